// A backend that is written in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "placewire/runtime/backend.h"
#include "placewire/runtime/module.h"

namespace placewire::bindings {

/// Lets a Python object with `id` and `load(description)` run delegates of one module. What `load`
/// returns has `execute(arguments)`.
///
/// Exceptions become Errors, and are the cause of what Python code sees in the end. Tensors that
/// Python code keeps keep the module alive. A delegate that keeps its own would so keep itself:
/// `let_go` opens that circle.
/// Threads: takes the interpreter lock where it needs it.
class PythonBackend final : public Backend {
 public:
  /// Throws if the object has no `id`. Needs the interpreter lock.
  explicit PythonBackend(nanobind::object backend);
  ~PythonBackend() override;

  /// Says whose delegates it runs; before the module loads any.
  void set_module(std::weak_ptr<Module> module) { module_ = std::move(module); }

  /// Forgets the Python objects of the backend and of all delegates: nobody is left who could load
  /// or execute any. Needs the interpreter lock. The module must be kept alive meanwhile.
  void let_go();

  [[nodiscard]] std::string_view id() const noexcept override { return id_; }
  [[nodiscard]] Result<std::unique_ptr<Delegate>> load(
      const DelegateDescription& description) override;

 private:
  nanobind::object backend_;
  std::string id_;
  std::weak_ptr<Module> module_;
  /// The functions `execute` of its delegates, shared with them.
  std::vector<std::shared_ptr<nanobind::object>> functions_;
};

/// Adds the class `DelegateDescription` to the module.
void bind_backends(nanobind::module_& module);

}  // namespace placewire::bindings
