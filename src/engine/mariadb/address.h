// mariadb://USER:PASSWORD@HOST:PORT/DATABASE?socket=PATH&ssl=1&ssl_ca=FILE
#pragma once

#include <string>
#include <string_view>

#include <engine/mariadb/handle.h>

namespace splitcount::engine::mariadb {

/// What follows the scheme and its colon. Error: config_invalid, which repeats nothing of it, since it may be a password.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

/// For a sentence, without user and password, which need not be seen by everybody.
[[nodiscard]] std::string display_name(const Address& address);

}  // namespace splitcount::engine::mariadb
