#include <engine/sqlite/faulty_files.h>

#include <new>

#include <sqlite3.h>

namespace splitcount::engine::sqlite {

struct FaultyFiles::State {
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  bool broken = false;
  Fault fault = Fault::no_room;
  int at = 0;
  int seen = 0;

  /// The answer to one write or sync: SQLITE_OK where it may go on.
  int answer(bool is_sync) {
    if (!broken || is_sync != (fault == Fault::sync_error)) return SQLITE_OK;
    if (++seen < at) return SQLITE_OK;
    if (is_sync) return SQLITE_IOERR_FSYNC;
    return fault == Fault::no_room ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
};

namespace {

struct File {
  sqlite3_file base;
  FaultyFiles::State* state;
  sqlite3_file* real;  // in the same memory, behind this
};

File& wrapped(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return wrapped(file).real; }

int close_file(sqlite3_file* file) { return real(file)->pMethods->xClose(real(file)); }
int read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
  return real(file)->pMethods->xRead(real(file), to, bytes, at);
}
int write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 at) {
  const int code = wrapped(file).state->answer(false);
  return code != SQLITE_OK ? code : real(file)->pMethods->xWrite(real(file), from, bytes, at);
}
int truncate(sqlite3_file* file, sqlite3_int64 size) { return real(file)->pMethods->xTruncate(real(file), size); }
int sync(sqlite3_file* file, int flags) {
  const int code = wrapped(file).state->answer(true);
  return code != SQLITE_OK ? code : real(file)->pMethods->xSync(real(file), flags);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) { return real(file)->pMethods->xFileSize(real(file), size); }
int lock(sqlite3_file* file, int level) { return real(file)->pMethods->xLock(real(file), level); }
int unlock(sqlite3_file* file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
int check_reserved_lock(sqlite3_file* file, int* out) {
  return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
int file_control(sqlite3_file* file, int op, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), op, argument);
}
int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
int device_characteristics(sqlite3_file* file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
int shm_map(sqlite3_file* file, int page, int bytes, int extend, void volatile** out) {
  return real(file)->pMethods->xShmMap(real(file), page, bytes, extend, out);
}
int shm_lock(sqlite3_file* file, int offset, int n, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, n, flags);
}
void shm_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
int shm_unmap(sqlite3_file* file, int remove) { return real(file)->pMethods->xShmUnmap(real(file), remove); }

constexpr sqlite3_io_methods methods{
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* const state = static_cast<FaultyFiles::State*>(vfs->pAppData);
  auto* const made = new (file) File{{nullptr}, state, nullptr};
  made->real = reinterpret_cast<sqlite3_file*>(made + 1);
  const int code = state->real->xOpen(state->real, name, made->real, flags, out_flags);
  if (made->real->pMethods != nullptr) made->base.pMethods = &methods;
  return code;
}

}  // namespace

FaultyFiles::FaultyFiles() : state_(std::make_unique<State>()) {
  state_->real = sqlite3_vfs_find(nullptr);
  state_->vfs = *state_->real;
  state_->vfs.zName = "faulty";
  state_->vfs.pAppData = state_.get();
  state_->vfs.szOsFile = static_cast<int>(sizeof(File)) + state_->real->szOsFile;
  state_->vfs.xOpen = open_file;
  sqlite3_vfs_register(&state_->vfs, 1);
}

FaultyFiles::~FaultyFiles() {
  sqlite3_vfs_unregister(&state_->vfs);
  sqlite3_vfs_register(state_->real, 1);
}

void FaultyFiles::break_at(Fault fault, int n) {
  state_->fault = fault;
  state_->at = n;
  state_->seen = 0;
  state_->broken = true;
}

void FaultyFiles::mend() { state_->broken = false; }

int FaultyFiles::seen() const { return state_->seen; }

}  // namespace splitcount::engine::sqlite
