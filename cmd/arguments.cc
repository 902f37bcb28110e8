#include "arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <utility>

#include "base/exit.h"
#include "base/message.h"
#include "base/text.h"
#include "base/version.h"
#include "program.h"

namespace gt {

Option& Option::type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::env(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::defaults_to(const std::string& value) {
  option_->expected(0, 1)->default_str(value);
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Arguments::Arguments(const std::string& program, const std::string& what,
                     const std::string& footer)
    : app_(std::make_unique<CLI::App>(what, program)) {
  app_->footer(footer);
}

Arguments::~Arguments() = default;

Option Arguments::flag(const std::string& name, bool& to,
                       const std::string& help) {
  return Option(app_->add_flag(name, to, help));
}

Option Arguments::flag(const std::string& name, int& to,
                       const std::string& help) {
  return Option(app_->add_flag(name, to, help));
}

Option Arguments::text(const std::string& name, std::string& to,
                       const std::string& help) {
  return Option(app_->add_option(name, to, help));
}

Option Arguments::read(const std::string& name, Reader read,
                       const std::string& help) {
  const auto checked = [name, read = std::move(read)](const std::string& text) {
    const std::string wrong = read(text);
    if (!wrong.empty()) throw CLI::ValidationError(name, wrong);
  };
  return Option(app_->add_option_function<std::string>(name, checked, help));
}

namespace {

// Reads a number; anything else is wrong, such as nan, inf, hexadecimal digits,
// or text after the number. Returns what is wrong; "" if nothing is.
template <typename Number>
std::string read_in_range(const std::string& text, Number least, Number most,
                          Number& value) {
  if (read_number(text, value) && value >= least && value <= most) return "";
  std::ostringstream wrong;
  wrong.precision(15);  // so that it writes 1000000, not 1e+06
  wrong << "'" << text << "' is not a number from " << least << " to " << most;
  return wrong.str();
}

}  // namespace

template <typename Number>
Option Arguments::number(const std::string& name, Number& to, Number least,
                         Number most, const std::string& help) {
  const auto take = [&to, least, most](const std::string& text) {
    return read_in_range(text, least, most, to);
  };
  return read(name, take, help).type("N");
}
template Option Arguments::number(const std::string&, int&, int, int,
                                  const std::string&);
template Option Arguments::number(const std::string&, uint32_t&, uint32_t,
                                  uint32_t, const std::string&);
template Option Arguments::number(const std::string&, int64_t&, int64_t,
                                  int64_t, const std::string&);
template Option Arguments::number(const std::string&, uint64_t&, uint64_t,
                                  uint64_t, const std::string&);
template Option Arguments::number(const std::string&, double&, double, double,
                                  const std::string&);

Option Arguments::positive(const std::string& name, double& to,
                           const std::string& help) {
  const auto take = [&to](const std::string& text) -> std::string {
    if (read_number(text, to) && to > 0 && !std::isinf(to)) return "";
    return "'" + text + "' is not a number above 0";
  };
  return read(name, take, help).type("N");
}

Option Arguments::seconds(const std::string& name, int64_t& milliseconds,
                          double least, double most, const std::string& help) {
  const auto take = [&milliseconds, least, most](const std::string& text) {
    double value = 0;
    const std::string wrong = read_in_range(text, least, most, value);
    if (wrong.empty()) milliseconds = static_cast<int64_t>(value * 1000);
    return wrong;
  };
  return read(name, take, help).type("SECONDS");
}

Option Arguments::size(const std::string& name, size_t& bytes, size_t least,
                       const std::string& help) {
  const auto take = [&bytes, least](const std::string& text) -> std::string {
    if (parse_size(text, bytes) && bytes >= least) return "";
    return "'" + text + "' is not a size such as 512M or 2G";
  };
  return read(name, take, help).type("SIZE");
}

Option Arguments::files(const std::string& name, std::vector<std::string>& to,
                        const std::string& help) {
  return Option(app_->add_option(name, to, help));
}

Option Arguments::list(const std::string& name, std::vector<std::string>& to,
                       const std::string& type, const std::string& help,
                       char separator) {
  return Option(app_->add_option(name, to, help)
                    ->type_name(type)
                    ->expected(1)
                    ->take_all()
                    ->delimiter(separator)
                    ->allow_extra_args(false));
}

Option Arguments::pairs(const std::string& name, std::vector<std::string>& to,
                        const std::string& type, const std::string& help) {
  return Option(app_->add_option(name, to, help)
                    ->type_name(type)
                    ->type_size(2)
                    ->expected(1)
                    ->take_all()
                    ->allow_extra_args(false));
}

namespace {

// Returns "; did you mean '--repeat'?" for the first option that the program
// does not have.
std::string meant_option(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& word : app.remaining()) {
    if (!word.starts_with("--")) continue;
    return did_you_mean(word.substr(0, word.find('=')), known);
  }
  return "";
}

// Rewords CLI11's "--repeat: 2 required N FILE missing" as "--repeat: expected
// N FILE", "-c: At Most 1 required but received 2" as "-c is given twice", and
// "Could not convert: -v = x" as "-v (GT_VERBOSE): 'x' is not true, false or a
// number", since the environment may have given that flag its value.
std::string worded(const CLI::App& app, std::string text) {
  constexpr std::string_view kUnread = "Could not convert: ", kIs = " = ";
  if (const size_t is = text.find(kIs);
      text.starts_with(kUnread) && is != text.npos) {
    const std::string name = text.substr(kUnread.size(), is - kUnread.size());
    const CLI::Option* option = app.get_option_no_throw(name);
    const std::string from = option ? option->get_envname() : "";
    const bool is_flag = option && option->get_expected_max() == 0;
    return name + (from.empty() ? "" : " (" + from + ")") + ": '" +
           text.substr(is + kIs.size()) + "' is not " +
           (is_flag ? "true, false or a number" : "a number");
  }
  constexpr std::string_view kAtMost = ": At Most 1 required but received ";
  if (const size_t name = text.find(kAtMost); name != text.npos) {
    const std::string times = text.substr(name + kAtMost.size());
    return text.substr(0, name) + " is given " +
           (times == "2" ? "twice" : times + " times");
  }
  constexpr std::string_view kRequired = " required ", kMissing = " missing";
  const size_t at = text.find(kRequired);
  if (at == text.npos || !text.ends_with(kMissing)) return text;
  text.resize(text.size() - kMissing.size());
  // Leaves out the choices, svg|chrome.
  text.resize(std::min(text.find(":{"), text.size()));
  const size_t count = text.rfind(' ', at - 1) + 1;
  return text.replace(count, at + kRequired.size() - count, "expected ");
}

}  // namespace

bool Arguments::parse(int argc, char** argv, int& status) {
  CLI::App& app = *app_;
  app.set_version_flag("--version",
                       app.get_name() + " " + std::string(kVersion));
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& e) {  // --help, --version
    status = app.exit(e) == 0 ? 0 : static_cast<int>(Exit::kUsage);
    if (std::fflush(stdout) != 0 || !std::cout.flush()) {
      say(app.get_name() +
          ": cannot write standard output: " + std::strerror(errno) + "\n");
      status = static_cast<int>(Exit::kUsage);
    }
  } catch (const CLI::ParseError& e) {
    status =
        usage_error(app.get_name(), worded(app, e.what()) + meant_option(app));
  }
  return false;
}

bool Arguments::has(const std::string& name) const {
  return app_->count(name) > 0;
}

std::string Arguments::first_of(const std::vector<std::string>& names) const {
  const auto is_given = [this](const std::string& name) { return has(name); };
  const auto at = std::find_if(names.begin(), names.end(), is_given);
  return at == names.end() ? "" : *at;
}

std::vector<std::string> Arguments::order() const {
  std::vector<std::string> out;
  for (const CLI::Option* option : app_->parse_order()) {
    out.push_back(option->get_name());
  }
  return out;
}

bool parse_size(std::string_view text, size_t& bytes) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{}) return false;
  const std::string_view unit(end, text.data() + text.size());
  size_t shift = 0;
  if (unit == "k" || unit == "K") {
    shift = 10;
  } else if (unit == "M") {
    shift = 20;
  } else if (unit == "G") {
    shift = 30;
  } else if (!unit.empty()) {
    return false;
  }
  if (bytes > (SIZE_MAX >> shift)) return false;
  bytes <<= shift;
  return true;
}

}  // namespace gt
