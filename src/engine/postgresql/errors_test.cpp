#include <engine/postgresql/errors.h>

#include <gtest/gtest.h>

namespace splitcount::engine::postgresql {
namespace {

TEST(PostgresqlErrors, OwnStatesAreTheNumbersOfTheCodes) {
  EXPECT_EQ(code_of("SC002"), ErrorCode::amount_invalid);
  EXPECT_EQ(code_of("SC004"), ErrorCode::key_invalid);
  EXPECT_EQ(code_of("SC013"), ErrorCode::key_missing);
  EXPECT_EQ(code_of("SC014"), ErrorCode::slot_missing);
  EXPECT_EQ(code_of("SC015"), ErrorCode::out_of_range);
  EXPECT_EQ(code_of("SC018"), ErrorCode::request_in_flight);
  EXPECT_EQ(code_of("SC000"), ErrorCode::internal);
  EXPECT_EQ(code_of("SC999"), ErrorCode::internal);
}

TEST(PostgresqlErrors, ServersStatesAreClassified) {
  EXPECT_EQ(code_of("40001"), ErrorCode::serialization_failure);
  EXPECT_EQ(code_of("40P01"), ErrorCode::deadlock);
  EXPECT_EQ(code_of("55P03"), ErrorCode::database_busy);
  EXPECT_EQ(code_of("08006"), ErrorCode::connection_lost);
  EXPECT_EQ(code_of("57P01"), ErrorCode::connection_lost);
  EXPECT_EQ(code_of("25006"), ErrorCode::read_only);
  EXPECT_EQ(code_of("42501"), ErrorCode::permission_denied);
  EXPECT_EQ(code_of("58030"), ErrorCode::io_error);
  EXPECT_EQ(code_of("XX000"), ErrorCode::internal);
  EXPECT_EQ(code_of(""), ErrorCode::internal);
}

TEST(PostgresqlErrors, ARefusedConnectionIsToldApartByItsState) {
  const auto wrong_password = not_connected(
      "it", "connection to server at \"h\" (::1), port 5432 failed: FATAL:  28P01: password authentication failed for "
            "user \"u\"\nLOCATION:  auth_failed, auth.c:326\n");
  EXPECT_EQ(wrong_password.code, ErrorCode::permission_denied);
  EXPECT_EQ(wrong_password.sqlstate, "28P01");
  EXPECT_EQ(wrong_password.message, "it cannot be used: password authentication failed for user \"u\" (SQLSTATE 28P01)");
  EXPECT_FALSE(wrong_password.retryable);
  EXPECT_EQ(not_connected("it", "failed: FATAL:  3D000: database \"x\" does not exist").code,
            ErrorCode::database_unavailable);
  EXPECT_EQ(not_connected("it", "failed: FATAL:  53300: sorry, too many clients already").code,
            ErrorCode::database_busy);
  const auto down = not_connected("it", "connection to server on socket \"/x\" failed: No such file or directory\n\tIs "
                                        "the server running locally?\n");
  EXPECT_EQ(down.code, ErrorCode::database_unavailable);
  EXPECT_TRUE(down.retryable);
  EXPECT_EQ(down.message, "it cannot be reached: No such file or directory");
}

TEST(PostgresqlErrors, OfManyAddressesTheOneThatAnsweredIsToldOf) {
  const auto full = not_connected(
      "it", "connection to server at \"h\" (::1), port 5432 failed: Connection refused\n\tIs the server running on that "
            "host?\nconnection to server at \"h\" (127.0.0.1), port 5432 failed: FATAL:  53300: sorry, too many clients "
            "already\nLOCATION:  InitProcess, proc.c:364\n");
  EXPECT_EQ(full.message, "it cannot be used: sorry, too many clients already (SQLSTATE 53300)");
  EXPECT_EQ(full.code, ErrorCode::database_busy);
  const auto unknown_host = not_connected("it", "could not translate host name \"h\" to address: Name or service not known\n");
  EXPECT_EQ(unknown_host.message, "it cannot be reached: could not translate host name \"h\" to address: Name or service "
                                  "not known");
}

}  // namespace
}  // namespace splitcount::engine::postgresql
