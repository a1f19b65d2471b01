#include <intake/gunzip.h>

#include <algorithm>
#include <limits>
#include <new>

#include <zlib.h>

namespace splitcount::intake {
namespace {

constexpr int gzip_only = 15 + 16;  // zlib's window bits: the largest window, and a gzip header is a must

uInt as_zlib_size(std::size_t size) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

bool is_gzip(std::string_view bytes) noexcept { return bytes.starts_with("\x1f\x8b"); }

void Gunzip::End::operator()(z_stream_s* stream) const noexcept {
  inflateEnd(stream);
  delete stream;
}

Gunzip::Gunzip() {
  auto stream = std::make_unique<z_stream_s>();
  if (inflateInit2(stream.get(), gzip_only) != Z_OK) throw std::bad_alloc();
  stream_.reset(stream.release());
}

Gunzip::Step Gunzip::step(std::string_view in, std::span<char> out) {
  Step step;
  if (between_members_) {
    step.used = std::min(in.find_first_not_of('\0'), in.size());
    if (step.used == in.size()) return step;
    between_members_ = false;
  }
  auto& stream = *stream_;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + step.used));  // zlib reads it only
  stream.avail_in = as_zlib_size(in.size() - step.used);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = as_zlib_size(out.size());
  const auto in_before = stream.avail_in;
  const auto out_before = stream.avail_out;
  const int status = inflate(&stream, Z_NO_FLUSH);
  step.used += in_before - stream.avail_in;
  step.made = out_before - stream.avail_out;
  if (status == Z_STREAM_END) {
    between_members_ = true;
    inflateReset(&stream);
  } else if (status == Z_MEM_ERROR) {
    throw std::bad_alloc();
  } else {
    step.damaged = status != Z_OK && status != Z_BUF_ERROR;
  }
  return step;
}

}  // namespace splitcount::intake
