#include <cli/report.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/resource.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

namespace splitcount::cli {
namespace {

class Reports : public testing::Test {
 protected:
  Reports() {
    std::string name = (std::filesystem::temp_directory_path() / "splitcount_report_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Reports() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return (folder_ / "report.html").string(); }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path folder_;
};

/// While it lives no file may grow beyond that size.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(Reports, WhatCannotBeWrittenWholeLeavesTheEarlierOne) {
  std::ofstream(path()) << "earlier";
  {
    const FileSizeLimit limit(1000);
    const auto written = write_report(path(), "{}");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::disk_full);
  }
  EXPECT_EQ(content(), "earlier");
  EXPECT_EQ(files(), 1);
  ASSERT_TRUE(write_report(path(), "{}"));
  EXPECT_TRUE(content().ends_with("</html>\n"));
  EXPECT_EQ(files(), 1);
}

TEST_F(Reports, LookingWhetherItCanBeWrittenLeavesNothing) {
  EXPECT_TRUE(check_report(std::nullopt));
  EXPECT_TRUE(check_report(path()));
  EXPECT_EQ(files(), 0);
}

TEST_F(Reports, AnEarlierOneIsReplacedBehindItsLink) {
  const auto link = path() + ".link.html";
  std::ofstream(path()) << "earlier";
  std::filesystem::create_symlink(path(), link);
  const auto mask = umask(027);
  ASSERT_TRUE(write_report(link, "{}"));
  umask(mask);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(content().ends_with("</html>\n"));
  EXPECT_EQ(static_cast<int>(std::filesystem::status(path()).permissions()), 0640);
  EXPECT_EQ(files(), 2);
}

TEST_F(Reports, EachWritingHasANonceOfItsOwn) {
  ASSERT_TRUE(write_report(path(), "{}"));
  const auto first = content();
  ASSERT_TRUE(write_report(path(), "{}"));
  EXPECT_NE(content(), first);
}

TEST(ReportPage, NothingInTheJsonCanBecomeMarkupOrAMark) {
  const auto page = report_of_json(R"({"name":"</pre></script><!--<img onerror=x>&lt;{{nonce}}","most":9223372036854775807})", "abc");
  EXPECT_NE(page.find(R"("name": "&lt;/pre&gt;&lt;/script&gt;&lt;!--&lt;img onerror=x&gt;&amp;lt;{{nonce}}")"), page.npos);
  EXPECT_NE(page.find("9223372036854775807"), page.npos);
  EXPECT_EQ(page.find("<img"), page.npos);
  EXPECT_NE(page.find("script-src 'nonce-abc'"), page.npos);
  EXPECT_NE(page.find("<script nonce=\"abc\">"), page.npos);
}

}  // namespace
}  // namespace splitcount::cli
