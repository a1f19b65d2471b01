// count_file with bounds that tests can make small.
#pragma once

#include <string_view>

#include <intake/chunk.h>
#include <intake/count.h>

namespace splitcount::intake {

[[nodiscard]] CountReport run_count(Combiner& combiner, const Counter& counter, std::string_view path,
                                    const CountOptions& options, const Bounds& bounds);

}  // namespace splitcount::intake
