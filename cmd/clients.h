// The options of gt-emit that are of many clients: -l, which serves them, and
// --to, which is one of them (gt-clients(7)).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "emit/emitter.h"
#include "links.h"
#include "net/file_caller.h"
#include "serve/server.h"
#include "serve/transfer.h"

namespace gt {

class ClientOptions {
 public:
  void add_to(CLI::App& app);
  // What is wrong with options of which one needs or excludes another, or "".
  std::string wrong_combination(const CLI::App& app) const;
  static bool serves(const CLI::App& app) { return app.count("-l") > 0; }
  static bool visits(const CLI::App& app) { return app.count("--to") > 0; }

  // Each returns what is wrong with the options, or "" and the status of what
  // it has done.
  std::string serve(Exit& status);
  // `has_program`: an input was named, or standard input is one.
  std::string visit(const emit::EmitJob& job, bool has_program, Exit& status);
  // Whether files travel, so that standard input is no program by itself.
  bool carries_files() const {
    return carries_ || !sent_.empty() || !fetched_.empty();
  }

 private:
  void add_serving(CLI::App& app);
  void add_visiting(CLI::App& app);
  std::string read_shares();
  std::string read_lend();
  static void keep_large_buffers();
  std::string read_transfers(std::vector<serve::Transfer>& sent,
                             std::vector<serve::Transfer>& fetched) const;
  net::FileCallerOptions borrower() const;
  Exit run_program(const emit::EmitJob& job);

  // Of -l.
  ListenOptions listen_{"-l", "gt-emit"};
  serve::ServerOptions server_;
  std::vector<std::string> shares_;
  std::string memory_, stored_;
  double keep_ = 600;  // seconds
  // Of --to.
  ConnectOptions to_{"--to", "--server-key", "gt-emit", "gt-emit"};
  std::string user_;
  std::string attach_, detach_;
  bool waits_ = false;
  std::vector<std::string> sent_, fetched_;
  bool carries_ = false;
  // Of both.
  std::string key_;
  bool insecure_ = false;
  double silence_ = 1.5;  // seconds
};

}  // namespace gt
