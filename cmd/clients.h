// The options of gt-emit for many clients: -l, which serves them, and --to, by
// which gt-emit is one of them (gt-clients(7)).
#pragma once

#include <string>
#include <vector>

#include "arguments.h"
#include "emit/emitter.h"
#include "links.h"
#include "net/file_caller.h"
#include "serve/server.h"
#include "serve/transfer.h"

namespace gt {

class ClientOptions {
 public:
  void add_to(Arguments& args);
  // Returns what is wrong with options that need or exclude each other; "" if
  // nothing is.
  std::string wrong_combination(const Arguments& args) const;
  static bool serves(const Arguments& args) { return args.has("-l"); }
  static bool visits(const Arguments& args) { return args.has("--to"); }

  // serve() and visit() return what is wrong with the options; or "", and set
  // `status` to the status of what they have done.
  std::string serve(Exit& status);
  // `has_program` says that an input was named, or that standard input is one.
  std::string visit(const emit::EmitJob& job, bool has_program, Exit& status);
  // Lets the lines of clients be in regions (emit::EmitOptions::region).
  void set_region(std::function<std::string(const Line&)> region) {
    server_.multiplexer.region = std::move(region);
  }
  // True if files are copied, so that standard input alone is no program.
  bool carries_files() const {
    return carries_ || !sent_.empty() || !fetched_.empty();
  }

 private:
  void add_serving(Arguments& args);
  void add_visiting(Arguments& args);
  std::string read_shares();
  std::string read_lend();
  static void keep_large_buffers();
  std::string read_transfers(std::vector<serve::Transfer>& sent,
                             std::vector<serve::Transfer>& fetched) const;
  net::FileCallerOptions borrower() const;
  Exit run_program(const emit::EmitJob& job);

  // The options of -l.
  ListenOptions listen_{"-l", "gt-emit"};
  serve::ServerOptions server_;
  std::vector<std::string> shares_;
  // The options of --to.
  ConnectOptions to_{"--to", "--server-key", "gt-emit", "gt-emit"};
  std::string user_;
  std::string attach_, detach_;
  bool waits_ = false;
  std::vector<std::string> sent_, fetched_;
  bool carries_ = false;
  // The options of both.
  std::string key_;
  bool insecure_ = false;
  int64_t silence_ = 1500;  // milliseconds
};

}  // namespace gt
