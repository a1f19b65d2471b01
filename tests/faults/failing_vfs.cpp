#include <faults/failing_vfs.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>
#include <stdexcept>

#include <sqlite3.h>

namespace splitcount::faults::failing_vfs {
namespace {

struct State {
  std::mutex mutex;
  std::string folder;  // with a slash at its end; empty: nothing is watched
  std::int64_t calls = 0;
  std::int64_t fail_at = 0;  // 0: never
  bool stays = false;
  Failure failure = Failure::io_error;
  std::int64_t failures = 0;
  FileCall failed_call = FileCall::open;
  std::function<void(const Recording&)> at_each;
  Recording recording;
};
State& state() {
  static State state;
  return state;
}

sqlite3_vfs* real_vfs = nullptr;

/// True: this call has to fail. The state's mutex is held.
bool fails(State& now, FileCall call) {
  ++now.calls;
  const bool due = now.fail_at != 0 && (now.stays ? now.calls >= now.fail_at : now.calls == now.fail_at);
  if (!due) return false;
  if (now.failures++ == 0) now.failed_call = call;
  return true;
}

/// The wrapper's file: SQLite's own follows it in the same piece of memory.
struct WatchedFile {
  sqlite3_file base;
  bool watched;
  char name[64];
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
WatchedFile& watched(sqlite3_file* file) { return *reinterpret_cast<WatchedFile*>(file); }

void apply(RecordedFile& file, const RecordedFile::Change& change) {
  if (change.truncates) {
    file.synced.resize(static_cast<std::size_t>(change.offset));
    return;
  }
  const auto end = static_cast<std::size_t>(change.offset) + change.bytes.size();
  if (file.synced.size() < end) file.synced.resize(end);
  file.synced.replace(static_cast<std::size_t>(change.offset), change.bytes.size(), change.bytes);
}

bool survives_power_loss(const WatchedFile& file) {
  const std::string_view name(file.name);
  return !name.ends_with("-shm");
}

void note(State& now, WatchedFile& file, RecordedFile::Change change) {
  if (!now.at_each || !survives_power_loss(file)) return;
  auto& recorded = now.recording[file.name];
  if (recorded.removed) recorded = {};  // another file of the same name
  recorded.unsynced.push_back(std::move(change));
  now.at_each(now.recording);
}

void note_sync(State& now, WatchedFile& file) {
  if (!now.at_each || !survives_power_loss(file)) return;
  auto& recorded = now.recording[file.name];
  for (const auto& change : recorded.unsynced) apply(recorded, change);
  recorded.unsynced.clear();
  now.at_each(now.recording);
}

int close_file(sqlite3_file* file) { return watched(file).real()->pMethods->xClose(watched(file).real()); }

int read_file(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
  auto& mine = watched(file);
  {
    const std::scoped_lock lock(state().mutex);
    if (mine.watched && fails(state(), FileCall::read)) return SQLITE_IOERR_READ;
  }
  return mine.real()->pMethods->xRead(mine.real(), out, size, offset);
}

int write_file(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  auto& mine = watched(file);
  auto* real = mine.real();
  if (!mine.watched) return real->pMethods->xWrite(real, bytes, size, offset);
  const std::scoped_lock lock(state().mutex);
  auto& now = state();
  if (fails(now, FileCall::write)) {
    if (now.failure == Failure::half) (void)real->pMethods->xWrite(real, bytes, size / 2, offset);
    return now.failure == Failure::full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  const int code = real->pMethods->xWrite(real, bytes, size, offset);
  if (code == SQLITE_OK) {
    note(now, mine, {offset, std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)), false});
  }
  return code;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  auto& mine = watched(file);
  auto* real = mine.real();
  if (!mine.watched) return real->pMethods->xTruncate(real, size);
  const std::scoped_lock lock(state().mutex);
  if (fails(state(), FileCall::truncate)) return SQLITE_IOERR_TRUNCATE;
  const int code = real->pMethods->xTruncate(real, size);
  if (code == SQLITE_OK) note(state(), mine, {size, {}, true});
  return code;
}

int sync_file(sqlite3_file* file, int flags) {
  auto& mine = watched(file);
  auto* real = mine.real();
  if (!mine.watched) return real->pMethods->xSync(real, flags);
  const std::scoped_lock lock(state().mutex);
  if (fails(state(), FileCall::sync)) {
    if (state().failure == Failure::half) (void)real->pMethods->xSync(real, flags);
    return SQLITE_IOERR_FSYNC;
  }
  const int code = real->pMethods->xSync(real, flags);
  if (code == SQLITE_OK) note_sync(state(), mine);
  return code;
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return watched(file).real()->pMethods->xFileSize(watched(file).real(), size);
}

int lock_file(sqlite3_file* file, int level) {
  auto& mine = watched(file);
  {
    const std::scoped_lock lock(state().mutex);
    if (mine.watched && fails(state(), FileCall::lock)) return SQLITE_IOERR_LOCK;
  }
  return mine.real()->pMethods->xLock(mine.real(), level);
}

int unlock_file(sqlite3_file* file, int level) {
  return watched(file).real()->pMethods->xUnlock(watched(file).real(), level);
}
int check_lock(sqlite3_file* file, int* out) {
  return watched(file).real()->pMethods->xCheckReservedLock(watched(file).real(), out);
}
int control_file(sqlite3_file* file, int op, void* argument) {
  return watched(file).real()->pMethods->xFileControl(watched(file).real(), op, argument);
}
int sector_size(sqlite3_file* file) { return watched(file).real()->pMethods->xSectorSize(watched(file).real()); }
int characteristics(sqlite3_file* file) {
  return watched(file).real()->pMethods->xDeviceCharacteristics(watched(file).real());
}

int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  auto& mine = watched(file);
  {
    const std::scoped_lock lock(state().mutex);
    if (mine.watched && fails(state(), FileCall::shared_memory)) {
      *out = nullptr;
      return SQLITE_IOERR_SHMMAP;
    }
  }
  return mine.real()->pMethods->xShmMap(mine.real(), page, size, extend, out);
}

int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  auto& mine = watched(file);
  {
    const std::scoped_lock lock(state().mutex);
    const bool takes = (flags & SQLITE_SHM_LOCK) != 0;  // giving back cannot fail
    if (mine.watched && takes && fails(state(), FileCall::lock)) return SQLITE_IOERR_SHMLOCK;
  }
  return mine.real()->pMethods->xShmLock(mine.real(), offset, count, flags);
}

void barrier_shared(sqlite3_file* file) { watched(file).real()->pMethods->xShmBarrier(watched(file).real()); }
int unmap_shared(sqlite3_file* file, int remove) {
  return watched(file).real()->pMethods->xShmUnmap(watched(file).real(), remove);
}

const sqlite3_io_methods methods = {
    2,           close_file,     read_file,    write_file,   truncate_file, sync_file,       size_of_file,
    lock_file,   unlock_file,    check_lock,   control_file, sector_size,   characteristics, map_shared,
    lock_shared, barrier_shared, unmap_shared, nullptr,      nullptr};

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* flags_out) {
  auto& mine = *new (file) WatchedFile{};
  const std::string_view text = path == nullptr ? std::string_view{} : std::string_view(path);
  {
    const std::scoped_lock lock(state().mutex);
    mine.watched = !state().folder.empty() && text.starts_with(state().folder);
    if (mine.watched && fails(state(), FileCall::open)) return SQLITE_CANTOPEN;
  }
  const auto name = text.substr(text.rfind('/') + 1);
  std::memcpy(mine.name, name.data(), std::min(name.size(), sizeof mine.name - 1));
  const int code = real_vfs->xOpen(real_vfs, path, mine.real(), flags, flags_out);
  if (mine.real()->pMethods != nullptr) mine.base.pMethods = &methods;
  return code;
}

int delete_file(sqlite3_vfs*, const char* path, int sync_folder) {
  const std::scoped_lock lock(state().mutex);
  auto& now = state();
  const std::string_view text(path);
  const bool mine = !now.folder.empty() && text.starts_with(now.folder);
  if (mine && fails(now, FileCall::remove)) {
    if (now.failure == Failure::half) (void)real_vfs->xDelete(real_vfs, path, sync_folder);
    return SQLITE_IOERR_DIR_FSYNC;
  }
  const int code = real_vfs->xDelete(real_vfs, path, sync_folder);
  if (code != SQLITE_OK || !mine || !now.at_each) return code;
  const std::string name(text.substr(text.rfind('/') + 1));
  if (sync_folder != 0) {
    now.recording.erase(name);
  } else if (const auto found = now.recording.find(name); found != now.recording.end()) {
    found->second.removed = true;
  }
  now.at_each(now.recording);
  return code;
}

}  // namespace

void install() {
  static sqlite3_vfs mine = [] {
    if (sqlite3_initialize() != SQLITE_OK) throw std::runtime_error("SQLite cannot be started");
    real_vfs = sqlite3_vfs_find(nullptr);
    sqlite3_vfs copy = *real_vfs;  // the other methods take no file and do not look at what they are called on
    copy.zName = "failing";
    copy.szOsFile = static_cast<int>(sizeof(WatchedFile)) + real_vfs->szOsFile;
    copy.xOpen = open_file;
    copy.xDelete = delete_file;
    copy.pNext = nullptr;
    return copy;
  }();
  if (sqlite3_vfs_register(&mine, 1) != SQLITE_OK) throw std::runtime_error("the failing VFS cannot be registered");
}

void watch(const std::string& folder) {
  const std::scoped_lock lock(state().mutex);
  auto& now = state();
  now.folder = folder + "/";
  now.calls = now.fail_at = now.failures = 0;
}

void fail_at(std::int64_t nth, Failure failure, bool stays) {
  const std::scoped_lock lock(state().mutex);
  state().fail_at = nth;
  state().failure = failure;
  state().stays = stays;
}

void heal() { fail_at(0, Failure::io_error, false); }

std::int64_t calls() {
  const std::scoped_lock lock(state().mutex);
  return state().calls;
}
std::int64_t failures() {
  const std::scoped_lock lock(state().mutex);
  return state().failures;
}
FileCall failed_call() {
  const std::scoped_lock lock(state().mutex);
  return state().failed_call;
}

void record(std::function<void(const Recording&)> at_each) {
  const std::scoped_lock lock(state().mutex);
  state().recording.clear();
  for (const auto& entry : std::filesystem::directory_iterator(state().folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    state().recording[entry.path().filename().string()].synced.assign(std::istreambuf_iterator<char>(file), {});
  }
  state().at_each = std::move(at_each);
}

void stop_recording() {
  const std::scoped_lock lock(state().mutex);
  state().at_each = nullptr;
}

}  // namespace splitcount::faults::failing_vfs
