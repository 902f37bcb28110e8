// The lines of tests/ops.tsv, which tests of ops go through.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "kernels_harness.h"
#include "ops/families.h"
#include "ops/table.h"

namespace gt::exec {
namespace {

KernelCase parse_case(const std::string& text) {
  KernelCase c;
  std::istringstream columns(text);
  std::string ulps;
  std::getline(columns, c.line, '\t');
  std::getline(columns, c.operands, '\t');
  std::getline(columns, c.dtypes, '\t');
  std::getline(columns, ulps, '\t');
  if (c.operands == "-") c.operands.clear();
  std::istringstream words(ulps);
  std::string norm;
  words >> c.ulps >> norm;
  c.norm = norm == "norm";
  EXPECT_FALSE(words.fail() && norm != "") << text;
  return c;
}

std::vector<KernelCase> read_cases() {
  // scripts/test-gpu may run where the source tree is elsewhere than at the
  // build.
  const char* tree = std::getenv("GT_SOURCE_DIR");
  std::ifstream file(std::string(tree == nullptr ? GT_SOURCE_DIR : tree) +
                     "/tests/ops.tsv");
  std::vector<KernelCase> cases;
  for (std::string text; std::getline(file, text);) {
    if (!text.starts_with('#')) cases.push_back(parse_case(text));
  }
  return cases;
}

// Ops that move values between ranks, or read or write files, have no kernels.
bool has_kernels(const Op& op) {
  return op.row->statement == Statement::kCompute && op.family != &kRanks;
}

TEST(KernelCases, CoverEveryOp) {
  std::set<std::string, std::less<>> covered;
  for (const KernelCase& c : kernel_cases()) covered.insert(op_of(c.line));
  for (const Op& op : all_ops()) {
    if (!has_kernels(op)) continue;
    EXPECT_TRUE(covered.contains(op.name))
        << "tests/ops.tsv has no line of " << op.name;
  }
}

}  // namespace

const std::vector<KernelCase>& kernel_cases() {
  static const std::vector<KernelCase> cases = read_cases();
  return cases;
}

std::string op_of(std::string_view line) {
  const size_t begin = line.find("= ") + 2;
  return std::string(line.substr(begin, line.find(' ', begin) - begin));
}

}  // namespace gt::exec
