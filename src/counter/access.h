// The way from the public handles to what is behind them, for src/counter, src/combine and tests; nobody else.
#pragma once

#include <memory>

#include <splitcount/database.h>

#include <counter/store.h>
#include <engine/engine.h>

namespace splitcount {

class Database::Impl {
 public:
  std::shared_ptr<counter::Store> store;
};

class Counter::Impl {
 public:
  std::shared_ptr<counter::Handle> handle;
};

namespace counter {

struct Access {
  [[nodiscard]] static Database database(std::shared_ptr<engine::Engine> engine) {
    return Database(std::make_shared<Database::Impl>(Database::Impl{std::make_shared<Store>(std::move(engine))}));
  }
  [[nodiscard]] static const std::shared_ptr<Store>& store(const Database& database) { return database.impl_->store; }

  [[nodiscard]] static Counter counter(std::shared_ptr<Handle> handle) {
    return Counter(std::make_shared<Counter::Impl>(Counter::Impl{std::move(handle)}));
  }
  [[nodiscard]] static const std::shared_ptr<Handle>& handle(const Counter& counter) { return counter.impl_->handle; }

  /// The caller's own handle as a connection. Errors: no_transaction, invalid_argument.
  [[nodiscard]] static Result<std::unique_ptr<engine::Connection>> borrow(Caller caller) {
    if (caller.handle_ == nullptr) return fail(ErrorCode::invalid_argument, "the caller's handle is null");
    switch (caller.engine_) {
      case Caller::Engine::sqlite: return engine::borrow(static_cast<sqlite3*>(caller.handle_));
      case Caller::Engine::postgresql: return engine::borrow(static_cast<pg_conn*>(caller.handle_));
      case Caller::Engine::mariadb: return engine::borrow(static_cast<st_mysql*>(caller.handle_));
    }
    return fail(ErrorCode::internal, "a caller's handle of an engine that is not built in");
  }
};

}  // namespace counter
}  // namespace splitcount
