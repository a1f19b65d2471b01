// A file of its own for a trial's tables, beside the database's: on the same disk, and nothing of it is ever in the
// user's file.
#pragma once

#include <memory>
#include <string>

#include <engine/engine.h>

namespace splitcount::engine::sqlite {

class SqliteSandbox final : public Sandbox {
 public:
  /// `engine`: of the file `path`, which a file lock keeps for this trial.
  [[nodiscard]] static Result<std::unique_ptr<Sandbox>> open(std::string path, std::unique_ptr<Engine> engine,
                                                             Deadline deadline);
  ~SqliteSandbox() override;

  Engine& engine() noexcept override { return *engine_; }
  std::string name() const override;
  Result<void> remove() override;

 private:
  SqliteSandbox(std::string path, std::unique_ptr<Engine> engine, int lock)
      : path_(std::move(path)), engine_(std::move(engine)), lock_(lock) {}

  std::string path_;
  std::unique_ptr<Engine> engine_;
  int lock_;  // a file descriptor
};

}  // namespace splitcount::engine::sqlite
