#include "clients.h"

#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "file/files.h"
#include "net/endpoint.h"
#include "net/keys.h"
#include "program.h"
#include "serve/client_hello.h"
#include "serve/scheduler.h"
#include "serve/visit.h"

namespace gt {
namespace {

// Returns the name of the user whose process this is; or its number, if the
// name is not allowed for users here.
std::string user_name() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr || !net::is_user_name(entry->pw_name)
             ? "u" + std::to_string(::getuid())
             : entry->pw_name;
}

}  // namespace

void ClientOptions::add_to(Arguments& args) {
  add_serving(args);
  add_visiting(args);
  args.text("--key", key_,
            "with -l and --to: the secret key of this gt-emit, see "
            "gt-key(1); connections are then encrypted")
      .type("FILE");
  args.text("--allow", listen_.allow,
            "with -l and --key: public keys of those who may come, one a "
            "line")
      .type("FILE");
  args.text("--server-key", to_.open_key,
            "with --to and --key: the public key of who listens there")
      .type("FILE");
  args.flag("--insecure", insecure_,
            "with -l and --to: without keys, take whoever is there");
  args.seconds("--silence", silence_, 1, 1e6,
               "with -l and --to: seconds after which a peer that says "
               "nothing is lost, 1 or more (1.5)")
      .env("GT_SILENCE");
  args.flag("-v", server_.verbose, "with -l: say who comes and goes")
      .env("GT_VERBOSE");
}

void ClientOptions::add_serving(Arguments& args) {
  args.text("-l", listen_.endpoint,
            "serve clients at this endpoint, as tcp://127.0.0.1:5550 or "
            "ipc:///tmp/gt; needs --back")
      .type("ENDPOINT");
  args.text("--back", server_.back,
            "with -l: the FIFO into which the last stage writes results")
      .type("FILE");
  args.list("--share", shares_, "USER=N",
            "with -l: the user's part of the workers, against 1 of others; "
            "may be repeated");
  args.text("--files", server_.multiplexer.files,
            "with -l: each user loads and saves below DIR/USER (nothing)")
      .type("DIR");
  args.text("--lend", server_.multiplexer.lend,
            "with --files: workers fetch and store these files at this "
            "endpoint, by which they reach this gt-emit (they open them)")
      .type("ENDPOINT");
  args.size("--quota", server_.multiplexer.quota.bytes, 1,
            "with -l: bytes that the values of a client may take");
  args.size("--quota-files", server_.quota_files, 0,
            "with -l: bytes that a user's directory may hold when files are "
            "stored there");
  args.number<uint64_t>("--quota-names", server_.multiplexer.quota.names, 1,
                        SIZE_MAX,
                        "with -l: names that a client may hold (1000000)");
  args.number<size_t>("--clients", server_.most, 1, 65536,
                      "with -l: how many may be there at once (256)");
  args.number<size_t>(
      "--user-clients", server_.most_of_user, 1, 65536,
      "with -l: how many of them may be of one user (no limit)");
  args.seconds("--keep", server_.keep, 0, 1e9,
               "with -l: seconds for which a client with a name (--detach) is "
               "kept without a connection; 0: none is (600)");
}

void ClientOptions::add_visiting(Arguments& args) {
  args.text("--to", to_.endpoint,
            "have the program run by the gt-emit -l there, and write its "
            "results")
      .type("ENDPOINT");
  args.text("--user", user_, "with --to: who this is (the user's name)")
      .type("NAME");
  args.text("--detach", detach_,
            "with --to: leave once the program is there; its results and "
            "tensors are kept under this name")
      .type("NAME");
  args.text("--attach", attach_,
            "with --to: come back to what --detach has left under this "
            "name")
      .type("NAME");
  args.flag("--wait", waits_,
            "with --detach: leave only when all results are there");
  args.list("--send", sent_, "FILE[=NAME]",
            "with --to: store FILE there first, as NAME of the user's "
            "files (its own path); may be repeated");
  args.list("--fetch", fetched_, "NAME[=FILE]",
            "with --to: get NAME of the user's files in the end, as FILE "
            "here; may be repeated");
  args.flag("--carry", carries_,
            "with --to: in place of a program, send, fetch and remove "
            "files as lines of standard input say");
}

std::string ClientOptions::wrong_combination(const Arguments& args) const {
  const bool listens = serves(args);
  const bool visits = ClientOptions::visits(args);
  if (listens && visits) return "-l serves and --to is served; give one";
  std::string name = args.first_of(
      {"--back", "--share", "--files", "--lend", "--quota", "--quota-files",
       "--quota-names", "--clients", "--user-clients", "--keep", "--allow"});
  if (!name.empty() && !listens) return name + " needs -l";
  name = args.first_of({"--user", "--server-key", "--detach", "--attach",
                        "--wait", "--send", "--fetch", "--carry"});
  if (!name.empty() && !visits) return name + " needs --to";
  name = args.first_of({"--key", "--insecure"});
  if (!name.empty() && !listens && !visits) return name + " needs -l or --to";
  if (listens && !args.has("--back")) {
    return "-l needs --back, the FIFO of the results";
  }
  if (args.has("--files") && server_.multiplexer.files.empty()) {
    return "--files: '' is no directory";
  }
  name = args.first_of({"--lend", "--quota-files"});
  if (!name.empty() && !args.has("--files")) {
    return name + " needs --files, the directory of the files";
  }
  name = args.first_of({"FILE", "--repeat", "-e", "--send", "--fetch"});
  if (carries_ && !name.empty()) {
    return "--carry reads what travels from standard input, and takes no " +
           name;
  }
  name = args.first_of({"FILE", "--repeat", "-e", "--tape", "--seed",
                        "--fail-fast", "--at", "--no-at"});
  if (listens && !name.empty()) {
    return name + " is for one program; with -l they come from clients";
  }
  if (visits && args.has("--tape")) {
    return "--tape is told here, without --to";
  }
  if (args.has("--user") && !net::is_user_name(user_)) {
    return "--user: '" + user_ + "': expected " +
           std::string(net::kUserNameRule);
  }
  if (waits_ && detach_.empty()) return "--wait needs --detach";
  if (!fetched_.empty() && !detach_.empty() && !waits_) {
    return "--fetch comes when all results are there; beside --detach it needs "
           "--wait";
  }
  if (!attach_.empty() && !detach_.empty() && attach_ != detach_) {
    return "--attach '" + attach_ + "' and --detach '" + detach_ +
           "' name two clients; who comes back keeps its name";
  }
  for (const auto& [option, kept] :
       {std::pair{"--attach", &attach_}, std::pair{"--detach", &detach_}}) {
    if (!args.has(option) || serve::is_client_name(*kept)) continue;
    return std::string(option) + ": '" + *kept +
           "' is no name: up to 64 letters, digits, '_' and '.'";
  }
  return "";
}

std::string ClientOptions::read_shares() {
  double least = 1, most = 1;  // those of users that are not named
  for (const std::string& text : shares_) {
    const size_t equal = text.find('=');
    double share = 0;
    if (equal == 0 || equal == std::string::npos ||
        !read_number(text.substr(equal + 1), share) || !(share > 0)) {
      return "--share: '" + text + "' is not USER=N with a number above 0";
    }
    least = std::min(least, share);
    most = std::max(most, share);
    if (most > least * serve::Scheduler::kMostTimes) {
      return "--share: '" + text +
             "': one share may be 100 times another, and those of users "
             "without --share are 1";
    }
    const std::string user = text.substr(0, equal);
    if (!net::is_user_name(user)) {
      return "--share: '" + user + "': expected " +
             std::string(net::kUserNameRule);
    }
    if (!server_.multiplexer.shares.emplace(user, share).second) {
      return "--share: '" + user + "' is given twice";
    }
  }
  return "";
}

std::string ClientOptions::read_lend() {
  std::string& lend = server_.multiplexer.lend;
  if (lend.ends_with('/')) lend.pop_back();
  if (!net::is_tcp(lend)) {
    return "--lend '" + lend + "' is not tcp://HOST:PORT";
  }
  const Status status = net::check_connectable(lend);
  return status.ok() ? "" : "--lend " + lend + ": " + status.error().message;
}

void ClientOptions::keep_large_buffers() {
  // Messages with parts of files are a mebibyte long. malloc would get each
  // from the system and give it back, which took a fifth of the time.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

std::string ClientOptions::serve(Exit& status) {
  if (!server_.multiplexer.files.empty()) keep_large_buffers();
  listen_.key = key_;
  listen_.insecure = insecure_;
  std::string wrong = listen_.read();
  if (wrong.empty()) wrong = read_shares();
  if (wrong.empty() && !server_.multiplexer.lend.empty()) wrong = read_lend();
  if (wrong.empty() && !server_.multiplexer.files.empty()) {
    const auto files = Files::make({server_.multiplexer.files});
    if (!files.ok()) wrong = "--files: " + files.error().message;
  }
  if (!wrong.empty()) return wrong;
  server_.endpoint = listen_.endpoint;
  server_.trust = listen_.trust();
  server_.admits = listen_.admits;
  server_.allow = listen_.allow;
  server_.silence = silence_;
  server_.end_process = [](Exit with) { std::_Exit(static_cast<int>(with)); };
  status = serve::run_server(server_, say);
  return "";
}

std::string ClientOptions::read_transfers(
    std::vector<serve::Transfer>& sent,
    std::vector<serve::Transfer>& fetched) const {
  for (const std::string& text : sent_) {
    auto transfer = serve::read_sending(text);
    if (!transfer.ok()) {
      return "--send " + text + ": " + transfer.error().message;
    }
    sent.push_back(std::move(transfer.value()));
  }
  for (const std::string& text : fetched_) {
    auto transfer = serve::read_fetching(text);
    if (!transfer.ok()) {
      return "--fetch " + text + ": " + transfer.error().message;
    }
    fetched.push_back(std::move(transfer.value()));
  }
  return "";
}

net::FileCallerOptions ClientOptions::borrower() const {
  net::FileCallerOptions options;
  options.identity.endpoint = to_.endpoint;
  options.identity.user = user_.empty() ? user_name() : user_;
  options.identity.trust = to_.trust();
  options.identity.timing = net::Timing::with_silence(silence_);
  return options;
}

std::string ClientOptions::visit(const emit::EmitJob& job, bool has_program,
                                 Exit& status) {
  to_.key = key_;
  to_.insecure = insecure_;
  std::string wrong = to_.read();
  if (const Status s = net::check_directory(to_.endpoint);
      wrong.empty() && !s.ok()) {
    wrong = "--to " + to_.endpoint + ": " + s.error().message;
  }
  std::vector<serve::Transfer> sent, fetched;
  if (wrong.empty()) wrong = read_transfers(sent, fetched);
  if (!wrong.empty()) return wrong;
  if (carries_files()) keep_large_buffers();
  if (carries_) {
    // When the process that asked is gone, files may still have to be removed.
    ::signal(SIGPIPE, SIG_IGN);
    status = serve::carry_files(STDIN_FILENO, STDOUT_FILENO, borrower(), say);
    return "";
  }
  status = serve::send_files(sent, borrower(), say);
  if (status != Exit::kDone) return "";
  if (has_program || !attach_.empty() || !detach_.empty()) {
    status = run_program(job);
  }
  if (fetched.empty()) return "";
  if (status != Exit::kDone) {
    say("gt-emit: nothing is fetched, since the program failed; --fetch "
        "without a program gets what is there\n");
    return "";
  }
  status = serve::fetch_files(fetched, borrower(), say);
  return "";
}

Exit ClientOptions::run_program(const emit::EmitJob& job) {
  serve::VisitOptions visit;
  visit.endpoint = to_.endpoint;
  visit.trust = to_.trust();
  visit.silence = silence_;
  visit.user = user_.empty() ? user_name() : user_;
  visit.name = attach_.empty() ? detach_ : attach_;
  visit.attaches = !attach_.empty();
  visit.stays = !detach_.empty();
  visit.waits = waits_;
  return serve::run_visit(job, visit, say);
}

}  // namespace gt
