#include "reports/files/jsonl.h"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "harness/records/fields_json.h"

namespace assay {

void Jsonl::result(const Result& result) {
  using Json = nlohmann::json;
  const std::string line =
      fields_to_json(result.record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fputs(line.c_str(), to_) < 0 || std::fflush(to_) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "--jsonl: standard output cannot be written");
  }
}

}  // namespace assay
