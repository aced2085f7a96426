# Everything is built in its own virtual environments; a fresh machine needs git, make, python3 and g++.

PYTHON ?= python3
comma := ,
SOURCES := $(shell find src engine -type f -not -path '*/__pycache__/*') CMakeLists.txt pyproject.toml

# Build requirements are installed in the environments, not in pip's temporary ones, so that builds are incremental.
BUILD_REQUIRES := "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja
PIP_INSTALL = bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test fuzz fuzz-sanitize mutants lint format sanitize bench bench-anytime bench-cluster bench-kernels bench-weights bench-missing bench-objectives bench-monotone bench-threads bench-inner-strategies docs figures wheel clean

demo: .venv/.installed
	.venv/bin/python -m codt.demo

# New and freed memory is filled with a pattern, so that reading it is noticed. Test files run in
# parallel, in the order of their names: by default those with few tests come last, some of which take a minute.
test: .venv-test/.installed
	MALLOC_PERTURB_=165 .venv-test/bin/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

# Random problems against an exact oracle: make fuzz SECONDS=3600 SEED=7 JOBS=2; more options in ARGS.
fuzz: .venv-test/.installed
	.venv-test/bin/python -m fuzz --seconds $(or $(SECONDS),60) --seed $(or $(SEED),0) --jobs $(or $(JOBS),2) $(ARGS)

# The fuzzer under AddressSanitizer and UndefinedBehaviorSanitizer, which are slow.
fuzz-sanitize: .venv-sanitize/.installed
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
	.venv-sanitize/bin/python -m fuzz --patience 120 \
		--seconds $(or $(SECONDS),60) --seed $(or $(SEED),0) --jobs $(or $(JOBS),2) $(ARGS)

# Plants faults in a copy of the sources, one at a time, and measures how long the fuzzer takes to find each.
mutants: .venv-test/.installed
	.venv-test/bin/python -m fuzz.mutants $(ARGS)

lint: .venv/.lint
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/python tools/check_layers.py
	find engine \( -name '*.cpp' -o -name '*.hpp' \) -exec .venv/bin/clang-format --dry-run -Werror {} +
	$(MAKE) --no-print-directory build/tidy/.clean

# clang-tidy takes a minute or two, so it is run only when something has changed. The bindings are left out: most of what
# it would check there is nanobind's.
build/tidy/.clean: .clang-tidy $(shell find engine -type f) | .venv/.lint
	.venv/bin/cmake -S . -B build/tidy -G Ninja -DCMAKE_MAKE_PROGRAM="$(CURDIR)/.venv/bin/ninja" \
		-DPython_EXECUTABLE="$(CURDIR)/.venv/bin/python" -Dnanobind_DIR="$$(.venv/bin/python -m nanobind --cmake_dir)" \
		-DCMAKE_EXPORT_COMPILE_COMMANDS=ON --log-level=WARNING
	find engine -name '*.cpp' -not -path 'engine/bindings/*' | \
		xargs -P 2 -n 4 .venv/bin/clang-tidy -p build/tidy --quiet
	touch $@

format: .venv/.lint
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	find engine \( -name '*.cpp' -o -name '*.hpp' \) -exec .venv/bin/clang-format -i {} +

# Memory and undefined behaviour by the test suite, races by a separate program (whose sanitizer needs addresses that are
# not random). Python itself is not built with the sanitizers, so their library has to be loaded first; libstdc++ with it,
# or exceptions thrown by the engine are not intercepted. Python's own leaks are ignored.
sanitize: .venv-sanitize/.installed
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
	.venv-sanitize/bin/python -m pytest -p no:cacheprovider
	.venv-sanitize/bin/cmake -S tests/native -B build/native -G Ninja \
		-DCMAKE_MAKE_PROGRAM="$(CURDIR)/.venv-sanitize/bin/ninja"
	.venv-sanitize/bin/cmake --build build/native
	TSAN_OPTIONS=halt_on_error=1 setarch -R build/native/threads

# Options go in ARGS: make bench ARGS="--quick". The other objectives, too, unless only some of the work is asked for.
bench: .venv/.bench
	.venv/bin/python -m benchmarks $(ARGS)
	$(if $(filter-out --quick,$(ARGS)),,.venv/bin/python -m benchmarks.objectives $(ARGS))

bench-anytime: .venv/.bench
	.venv/bin/python -m benchmarks.anytime $(ARGS)

# A simulation in virtual time: how much faster a search is on many workers. With ARGS=--check beside real clusters of
# this machine, on which nothing else should run.
bench-cluster: .venv/.bench
	.venv/bin/python -m benchmarks.cluster_simulation $(ARGS)

bench-kernels: .venv/.bench
	.venv/bin/python -m benchmarks.kernels $(ARGS)

bench-weights: .venv/.bench
	.venv/bin/python -m benchmarks.weights $(ARGS)

bench-missing: .venv/.bench
	.venv/bin/python -m benchmarks.missing $(ARGS)

bench-objectives: .venv/.bench
	.venv/bin/python -m benchmarks.objectives $(ARGS)

bench-monotone: .venv/.bench
	.venv/bin/python -m benchmarks.monotone $(ARGS)

# The work on several threads, by that on one.
bench-threads: .venv/.bench
	.venv/bin/python -m benchmarks.threads $(ARGS)

# Whole searches with each strategy inside their depth-two subproblems.
bench-inner-strategies: .venv/.bench
	.venv/bin/python -m benchmarks.inner_strategies $(ARGS)

# The site, in build/docs/index.html; a warning is an error.
docs: .venv/.docs
	.venv/bin/python -m sphinx -W --keep-going -b html docs build/docs

# Redraws every picture of the documentation.
figures: .venv/.installed
	for script in examples/plot_*.py; do MPLBACKEND=Agg .venv/bin/python $$script || exit 1; done

# Builds the wheel in isolation, as users do, installs it in a clean environment, and tests it from outside the sources.
WHEEL_TESTS := test_known_optima.py test_oracle_agreement.py test_tree.py test_strategies.py
wheel: .venv/.created
	rm -rf dist .venv-wheel
	.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/$(PIP_INSTALL) dist/codt-*.whl pytest hypothesis
	.venv-wheel/bin/python -m pip check
	cd .venv-wheel && bin/python -c "import codt; print(codt.__version__, codt.__file__)"
	CODT_TEST_SCALE=0.1 .venv-wheel/bin/python -m pytest -q -p no:cacheprovider $(addprefix tests/,$(WHEEL_TESTS))
	ls -l dist

clean:
	rm -rf .venv .venv-test .venv-sanitize .venv-wheel dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

%/.created:
	$(PYTHON) -m venv $*
	$*/$(PIP_INSTALL) $(BUILD_REQUIRES)
	touch $@

# $(call install,environment,extras,settings): build the package into the environment.
install = $(1)/$(PIP_INSTALL) --no-build-isolation \
	--config-settings=build-dir=build/$(1) $(3) ".$(2)"

.venv/.installed: .venv/.created $(SOURCES)
	$(call install,.venv,[cli$(comma)plot],)
	touch $@

.venv-test/.installed: .venv-test/.created .venv-test/.pydl85 $(SOURCES)
	$(call install,.venv-test,[test],--config-settings=cmake.define.CODT_ASSERTS=ON)
	touch $@

# A peer of the study without a wheel: built separately, in isolation. If that fails, its tests are skipped.
.venv-test/.pydl85: .venv-test/.created
	-.venv-test/$(PIP_INSTALL) "pydl8.5>=0.1.8"
	touch $@

.venv-sanitize/.installed: .venv-sanitize/.created $(SOURCES)
	$(call install,.venv-sanitize,[test],--config-settings=cmake.define.CODT_ASSERTS=ON \
		--config-settings=cmake.define.CODT_SANITIZE=ON)
	touch $@

.venv/.lint .venv/.bench .venv/.docs: .venv/.%: .venv/.installed
	$(call install,.venv,[$*],)
	touch $@

.PRECIOUS: %/.created
