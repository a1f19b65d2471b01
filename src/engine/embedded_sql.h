// The files of sql/ as the build embeds them (tools/embed_sql.cmake).
#pragma once

#include <cstddef>
#include <string_view>

namespace splitcount::engine {

struct EmbeddedFile {
  std::string_view dialect;
  std::string_view text;
};
extern const EmbeddedFile embedded_files[];
extern const std::size_t embedded_files_count;

}  // namespace splitcount::engine
