# Turns sql/<dialect>/*.sql into one C++ source: a table of (dialect, name, text). Each statement stands under a line
# `-- name: NAME`; a name twice in one dialect ends the build.
cmake_minimum_required(VERSION 3.25)

file(GLOB files ${SQL_DIR}/*/*.sql)
list(SORT files)
set(rows "")
set(seen "")
foreach(file IN LISTS files)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(dialect ${folder} NAME)
  file(STRINGS ${file} names REGEX "^-- name: ")
  foreach(line IN LISTS names)
    if(NOT line MATCHES "^-- name: ([a-z_0-9]+)$")
      message(FATAL_ERROR "${file}: \"${line}\" should be \"-- name: \" and a name of a-z, 0-9 and _")
    endif()
    set(name ${CMAKE_MATCH_1})
    if("${dialect}/${name}" IN_LIST seen)
      message(FATAL_ERROR "${file}: the name ${name} is there twice")
    endif()
    list(APPEND seen "${dialect}/${name}")
  endforeach()
  file(READ ${file} whole)
  string(APPEND rows "    {\"${dialect}\", R\"sqltext(${whole})sqltext\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made by tools/embed_sql.cmake from sql/; do not edit.
#include <engine/embedded_sql.h>
namespace splitcount::engine {
const EmbeddedFile embedded_files[] = {
${rows}};
const std::size_t embedded_files_count = sizeof(embedded_files) / sizeof(embedded_files[0]);
}  // namespace splitcount::engine
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
