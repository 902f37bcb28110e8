#include "exec/backend/registry.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/version.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/null/null.h"
#include "exec/backend/ref/ref.h"

namespace gt::exec {
namespace {

using Made = Result<std::unique_ptr<Backend>>;

Made make_ref(const BackendOptions& options) {
  return make_ref_backend(options);
}
Made make_null(const BackendOptions& options) {
  return make_null_backend(options);
}

struct BuiltIn {
  std::string_view name;
  Made (*make)(const BackendOptions& options);
};

constexpr BuiltIn kBuiltIn[] = {
    {"cpu", make_cpu_backend},
    {"ref", make_ref},
    {"null", make_null},
};

constexpr std::string_view kPluginEnd = ".so";

// Returns the folder of the installed plug-ins; "" if it cannot be told.
std::filesystem::path plugin_folder() {
  std::error_code failed;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return "";
  return program.parent_path().parent_path() / "lib" / "gt";
}

// Returns the path of the installed plug-in of that name; "" if there is none.
std::string installed(std::string_view name) {
  const std::filesystem::path folder = plugin_folder();
  if (folder.empty()) return "";
  std::error_code failed;
  const std::filesystem::path file =
      folder / (std::string(name) + std::string(kPluginEnd));
  return std::filesystem::exists(file, failed) ? file.string() : "";
}

// Returns the names of the installed plug-ins, in alphabetical order.
std::vector<std::string> installed_plugins() {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator file(plugin_folder(), failed), end;
       !failed && file != end; file.increment(failed)) {
    const std::filesystem::path& path = file->path();
    if (path.extension() == kPluginEnd) names.push_back(path.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Error unfit(const std::string& file, const std::string& why) {
  return Error{"backend " + file + " cannot be used: " + why};
}

Error unknown_backend(std::string_view name) {
  std::string names;
  for (const BuiltIn& backend : kBuiltIn) {
    names += std::string(backend.name) + ", ";
  }
  for (const std::string& plugin : installed_plugins()) names += plugin + ", ";
  return Error{"unknown backend '" + std::string(name) + "'; there are " +
               names + "and plug-ins, each by its path or, if it is " +
               "installed in lib/gt, by its name"};
}

// Loads the plug-in with that name or path.
Result<const BackendPlugin*> load_plugin(std::string_view name) {
  const bool is_path = name.find('/') != std::string_view::npos;
  const std::string file = is_path ? std::string(name) : installed(name);
  if (file.empty()) return unknown_backend(name);
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unfit(file, ::dlerror());
  const auto* plugin =
      static_cast<const BackendPlugin*>(::dlsym(library, "gt_backend"));
  if (plugin == nullptr) {
    return unfit(file, "it defines no gt_backend, so it is no plug-in of gt");
  }
  if (plugin->interface != plugin_interface()) {
    return unfit(file, "it was compiled with the headers of another gt than " +
                           std::string(kVersion));
  }
  return plugin;
}

Error no_choice(std::string_view name) {
  return Error{"backend " + std::string(name) +
               " has no devices to choose from"};
}

const BuiltIn* find_built_in(std::string_view name) {
  for (const BuiltIn& backend : kBuiltIn) {
    if (backend.name == name) return &backend;
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                              const BackendOptions& options) {
  if (options.pace && name != "null") {
    return Error{"a pace is for the null backend; " + std::string(name) +
                 " takes the time that it takes"};
  }
  // Only the cpu backend makes anything of an instruction set, but no backend
  // takes a word that names none.
  const std::string wrong = wrong_isa(options.isa);
  if (!wrong.empty()) return Error{wrong};
  if (const BuiltIn* built_in = find_built_in(name)) {
    if (options.device) return no_choice(name);
    return built_in->make(options);
  }
  const auto plugin = load_plugin(name);
  if (!plugin.ok()) return plugin.error();
  if (options.device && plugin.value()->devices == nullptr) {
    return no_choice(name);
  }
  return plugin.value()->make(options);
}

Result<std::vector<std::string>> backend_devices(std::string_view name) {
  if (find_built_in(name) != nullptr) return no_choice(name);
  const auto plugin = load_plugin(name);
  if (!plugin.ok()) return plugin.error();
  if (plugin.value()->devices == nullptr) return no_choice(name);
  return plugin.value()->devices();
}

}  // namespace gt::exec
