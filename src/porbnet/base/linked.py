"""Compilers for kernels and inner kernels: Numba's, with less of what they do not need.

An inner kernel goes up to the point where a function would be optimised and made machine code.

Numba optimises every function it compiles and makes machine code of it, even if it will only ever be part of others,
where it is optimised once more. Here an inner kernel ends as it was lowered. The kernel that calls it, directly or
through others, takes in each such part once and optimises the whole. Numbers that are written out in a call count as
numbers, not as types of their own: Numba would compile the callee once for each.

A kernel that Python calls is optimised once, in full: Numba does it twice, so as to find pairs of counts of references,
of which kernels have none. While anything is compiled, Python's collector of cyclic garbage rests.

These are Numba's insides. Where they are not as expected (another version), kernels are left to the ordinary compiler:
slower to compile, the same results.
"""

from __future__ import annotations

import ctypes
import functools
import gc
from collections.abc import Callable
from typing import Any

import numba

_NEWEST_TRIED = (0, 68)  # of Numba


def _called(*arguments: Any) -> None:
    raise TypeError("this kernel is called by kernels only")


# what a call from Python ends in, where others have their machine code
_NEVER = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.py_object)(_called)
_NEVER_ADDRESS = int(ctypes.cast(_NEVER, ctypes.c_void_p).value or 0)


def linked(function: Callable[..., Any], **options: Any) -> Any:
    """An inner kernel."""
    compilers = _compilers()
    if compilers is None:
        return numba.njit(**options)(function)
    options |= {"pipeline_class": compilers[0], "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher = numba.njit(**options)(function)
    ordinary = dispatcher.get_call_template

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        return ordinary(tuple(numba.types.unliteral(a) for a in arguments), keywords)

    dispatcher.get_call_template = get_call_template
    return dispatcher


_APART: set[tuple[str, str]] = set()
_HOT: set[tuple[str, str]] = set()


def mark(function: Callable[..., Any], apart: bool, hot: bool) -> None:
    """Whether an inner kernel stays a function of its own, and whether it is to be fast rather than small."""
    for marked, names in ((apart, _APART), (hot, _HOT)):
        if marked:
            names.add((function.__module__, function.__qualname__))


def entry(function: Callable[..., Any], **options: Any) -> Any:
    """A kernel that Python calls."""
    compilers = _compilers()
    if compilers is not None:
        options |= {"pipeline_class": compilers[2]}
    options |= {"no_cfunc_wrapper": True}
    return numba.njit(**options)(function)


@functools.cache
def _compilers() -> tuple[Any, Any, Any] | None:
    """Compiler classes for `numba.njit(pipeline_class=...)`, of inner kernels, of overloads and of kernels; or None."""
    try:
        _rest_while_compiling()
        compilers = _made_compilers()
        tried = tuple(int(n) for n in numba.__version__.split(".")[:2]) <= _NEWEST_TRIED
        return compilers if tried or _work(compilers) else None
    except (ImportError, AttributeError, ValueError):  # a Numba that is put together differently
        return None


def _work(compilers: tuple[Any, Any, Any]) -> bool:
    """Whether the compilers compile, with a Numba that they were not tried with."""
    plain: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    try:
        square = numba.njit(pipeline_class=compilers[0], **plain)(lambda x: x * x)
        of_python: dict[str, Any] = {"no_cfunc_wrapper": True, "_nrt": False}
        cube = numba.njit(pipeline_class=compilers[2], **of_python)(lambda x: x * square(x))
        return bool(cube(3.0) == 27.0)
    except Exception:  # whatever it is, the ordinary compiler does without it
        return False


def _rest_while_compiling() -> None:
    """Let the collector of garbage rest while Numba compiles: it looks through millions of objects in vain."""
    from numba.core import event

    class Rest(event.Listener):  # type: ignore[misc]
        depth = 0
        collects = False

        def on_start(self, told: Any) -> None:
            if self.depth == 0:
                self.collects = gc.isenabled()
                gc.disable()
            self.depth += 1

        def on_end(self, told: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.collects:
                gc.enable()

    event.register("numba:compile", Rest())


def _names(module: Any, declared: bool) -> set[str]:
    """Functions that a module only declares, or those that it defines."""
    return {function.name for function in module.functions if function.is_declaration == declared}


def overload_options(**options: Any) -> Any:
    """Options of `numba.extending.overload` with which its implementations are inner kernels."""
    compilers = _compilers()
    if compilers is not None:
        options |= {"pipeline_class": compilers[1], "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return options


def _made_compilers() -> tuple[Any, Any, Any]:
    import llvmlite.binding as llvm
    from numba import _dynfunc  # type: ignore[attr-defined]
    from numba.core import cgutils, typed_passes, untyped_passes
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, Flags, _LowerResult
    from numba.core.compiler_machinery import PassManager, register_pass

    class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
        """A library that is only ever linked into others: what it needs is linked there, not into it."""

        def add_ir_module(self, module: Any) -> None:
            for function in module.functions:
                for attribute in [] if function.is_declaration else self.attributes:
                    function.attributes.add(attribute)
            parsed = llvm.parse_assembly(cgutils.normalize_ir_text(str(module)))
            parsed.data_layout = self._codegen._data_layout
            parsed.name = self._final_module.name
            self._final_module = parsed

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.attributes: list[str] = []

        def finalize(self) -> None:
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
            self._shared_module = self._final_module
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class LinkedLowering(typed_passes.NativeLowering):  # type: ignore[misc,name-defined]
        """Lower into a `LinkedLibrary`."""

        _name = "porbnet_linked_lowering"

        def run_pass(self, state: Any) -> bool:
            state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            name = (state.func_id.modname, state.func_id.func_qualname)
            state.library.attributes = ["noinline"] * (name in _APART) + ["optsize"] * (name not in _HOT)
            state.flags.no_compile = True
            super().run_pass(state)
            found = state["cr"]
            module = found.fndesc.lookup_module()
            entry = _dynfunc.make_function(
                module, name[1].split(".")[-1], "", _NEVER_ADDRESS, found.env, (state.library,)
            )
            # whoever calls it needs what it calls
            needed = [state.library, *dict.fromkeys(state.library._linking_libraries)]
            state.targetctx.insert_user_function(entry, found.fndesc, needed)
            state["cr"] = _LowerResult(found.fndesc, found.call_helper, cfunc=entry, env=found.env)
            return True

    class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
        """A library that takes in what it needs, and is optimised once."""

        def finalize(self) -> None:
            # LLVM takes in only what is called by what is there already, so from the callers to the called
            libraries = dict.fromkeys(self._linking_libraries)
            defined = {library: _names(library._get_module_for_linking(), False) for library in libraries}
            while True:
                missing = _names(self._final_module, True)
                found = [library for library in libraries if defined[library] & missing]
                if not found:
                    break
                for library in found:
                    if hasattr(self, "_reload_init"):
                        self._reload_init.update(library._reload_init)
                    self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._linking_libraries = []
            super().finalize()

        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            manager = self._codegen._module_pass_manager()
            if isinstance(manager, tuple):  # with a builder of passes, since Numba 0.62
                manager[0].run(self._final_module, manager[1])
            else:
                manager.run(self._final_module)

    @register_pass(mutates_CFG=True, analysis_only=False)
    class KernelLowering(typed_passes.NativeLowering):  # type: ignore[misc,name-defined]
        """Lower into a `KernelLibrary`."""

        _name = "porbnet_kernel_lowering"

        def run_pass(self, state: Any) -> bool:
            state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return bool(super().run_pass(state))

    # of Numba's passes those that numerical code without closures, generators and array expressions needs; and what
    # sees to arguments that are None or tuples of different things
    first = (untyped_passes.TranslateByteCode, untyped_passes.FixupArgs, untyped_passes.IRProcessing)
    constants = (
        untyped_passes.RewriteSemanticConstants, untyped_passes.DeadBranchPrune, untyped_passes.GenericRewrites,
    )  # fmt: skip
    typed = (
        untyped_passes.ReconstructSSA, typed_passes.NopythonTypeInference, typed_passes.PreLowerStripPhis,
        typed_passes.AnnotateTypes,
    )  # fmt: skip

    class QuickFlags(Flags):  # type: ignore[misc]
        """Flags that are compared quickly: Numba does so at every call that it types, all of them one by one."""

        known_hash = hash(tuple(sorted(Flags.options)))  # as Numba has it: of their names

        def __hash__(self) -> int:
            return self.known_hash

        def __eq__(self, other: object) -> bool:
            if self._values == getattr(other, "_values", None):
                return True
            return bool(super().__eq__(other))

    def compiler(lowering: Any, with_constants: bool = True) -> Any:
        class Compiler(CompilerBase):  # type: ignore[misc]
            """Numba's compiler with few passes."""

            def __init__(
                self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, more: Any
            ) -> None:
                super().__init__(typing, target, library, args, result, QuickFlags(flags), more)

            def define_pipelines(self) -> list[Any]:
                manager = PassManager(lowering._name)
                before = (*first, *(constants if with_constants else ()), *typed)
                for one in (*before, lowering, typed_passes.NoPythonBackend):
                    manager.add_pass(one, one.__name__)
                manager.finalize()
                return [manager]

        return Compiler

    return compiler(LinkedLowering, False), compiler(LinkedLowering), compiler(KernelLowering)
