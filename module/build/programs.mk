# The companions, libcore.a and the unit tests.  ./build.sh drives it; the
# NGINX module itself is built by NGINX's own makefile from `config`.
#
#   make -f module/build/programs.mk B=build [SAN=…|TSAN=1] all|unit|replay
#   make -f module/build/programs.mk B=build/fuzz FUZZ=1 CC=clang replay
#
# The second builds the fuzz targets for libFuzzer; else they are programs
# that replay their corpora.
#
# All *.c files of a folder below module/ belong to it.  A program whose
# main file is not there (yet) is left out.

B ?= build
SAN ?=
TSAN ?=
FUZZ ?=
COVERAGE ?=
ifeq ($(origin CC),default)
CC := gcc
endif

WARN := -Wall -Wextra -Werror -Wno-unused-parameter -Wshadow -Wvla -Wundef \
	-Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
	-Wformat=2 -Wformat-nonliteral

ifneq ($(SAN),)
OPT := -O1 -g1 -fno-omit-frame-pointer $(SAN) -fno-sanitize-recover=all
LDOPT := $(SAN) $(SAN_LD)
else ifeq ($(TSAN),1)
OPT := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
LDOPT := -fsanitize=thread
else ifeq ($(FUZZ),1)
OPT := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
	-fsanitize=fuzzer-no-link,address,undefined
LDOPT := -fsanitize=fuzzer,address,undefined
else ifeq ($(COVERAGE),1)
OPT := -O0 -g --coverage
LDOPT := --coverage
else
HARDEN := $(shell sh module/build/hardening.sh '$(CC)' cc)
OPT := -O2 -g $(HARDEN) -ffunction-sections -fdata-sections
LDOPT := -Wl,--gc-sections
endif

# One object serves programs and libtoolgate.so: what is hidden costs nothing.
TG_CFLAGS := $(OPT) $(WARN) -fPIC -fvisibility=hidden -Imodule \
	-MMD -MP $(CPPFLAGS) $(CFLAGS)
HARDEN_LD := $(shell sh module/build/hardening.sh '$(CC)' ld)
SO_LDFLAGS := $(HARDEN_LD) -Wl,-O1 -Wl,--as-needed $(LDOPT) $(LDFLAGS)
# Sanitizers add data to each check; -no-pie relocates it at link time.
TG_LDFLAGS := $(if $(SAN),-no-pie,-pie) $(SO_LDFLAGS)

# Core is plain C11; the companions are Linux programs.
STD_C11 := -std=c11
STD := -std=gnu11 -D_GNU_SOURCE

# Static where the distribution has the archive: no search for and relocation
# of shared libraries is what lets the bridge start in a millisecond.
archive = $(or $(filter /%,$(shell $(CC) -print-file-name=$(strip $(1)))),$(2))
UV_LIBS := $(call archive,libuv_a.a,-luv) -lpthread -ldl -lrt
JSON_LIBS := $(call archive,libjson-c.a,-ljson-c)
PCRE_LIBS := $(call archive,libpcre2-8.a,-lpcre2-8)
# What reads traces; the client is built without it, too.
ifneq ($(TOOLGATE_MSGPACK),no)
HAS_MSGPACK := $(shell printf '\043include <msgpack.h>\n' | $(CC) -E -x c - \
	>/dev/null 2>&1 && echo 1)
endif
ifeq ($(HAS_MSGPACK),1)
MSGPACK_LIBS := $(call archive,libmsgpackc.a,$(call archive, \
	libmsgpack-c.a,-lmsgpackc))
$(B)/obj/module/cli/%.o: TG_CFLAGS += -DTG_HAVE_MSGPACK=1
endif
CUNIT_LIBS := -lcunit
# json-c, patterns and msgpack are for the command line.
LIBS := $(UV_LIBS) $(JSON_LIBS) $(PCRE_LIBS) $(MSGPACK_LIBS)
folder_libs = $(if $(filter cli,$(1)),$(LIBS),$(UV_LIBS) $(PCRE_LIBS))
# A program may have a loop of libuv's itself: there is one libuv in it.
SO_LIBS := -luv -lpcre2-8 -lpthread -ldl

comma := ,
# Folders of plain C11 that everybody links, as one archive.
C11_FOLDERS := base schema protocol catalog rule spec

src = $(sort $(foreach r,$(1),$(wildcard module/$(r)/*.c \
	module/$(r)/*/*.c)))
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
# The objects of folders without their main: what unit tests link.
folder = $(call obj,$(filter-out %_main.c,$(call src,$(1))))
# The runner's tests are about its tasks, too; the command line has
# libtoolgate's client.
host_objs = $(call folder,$(1) $(if $(filter runner,$(1)),tasks) \
	$(if $(filter cli,$(1)),lib))

CORE := $(B)/libcore.a
UV := $(call folder,transport)
THREAD := $(call folder,threading)

RUNNER_MAIN := $(wildcard module/runner/main/tg_runner_main.c)
BRIDGE_MAIN := $(wildcard module/bridge/tg_bridge_main.c)
CLIENT_MAIN := $(wildcard module/cli/tg_cli_main.c)

# libtoolgate: all that it is made of, under the names that toolgate.map has.
SONAME := libtoolgate.so.1
SO := $(B)/$(SONAME)
SO_MAP := module/lib/toolgate.map
SO_OBJS = $(call folder,lib) $(THREAD) $(UV) \
	$(call obj,$(call src,$(C11_FOLDERS)))
SO_FLAGS := -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(SO_MAP) \
	-Wl,-z,nodelete $(if $(SAN)$(TSAN),,-Wl,-z,defs)

# A program that has it, for tests.
HOST := $(B)/host

PROGS := $(if $(RUNNER_MAIN),$(B)/toolgate-runner) \
	$(if $(BRIDGE_MAIN),$(B)/toolgate-bridge) \
	$(if $(CLIENT_MAIN),$(B)/toolgate)

TESTS := $(patsubst t/unit/%.c,$(B)/unit/%,$(sort $(wildcard t/unit/test_*.c)))
# A test hardly computes: without optimization, it compiles in a quarter of the
# time.  The tests of base compare millions of texts.
QUICK_TESTS := $(call obj,$(filter-out t/unit/test_base_%, \
	$(wildcard t/unit/test_*.c)))
$(QUICK_TESTS): TG_CFLAGS += -O0 -U_FORTIFY_SOURCE
TEST_HELP := $(call obj,$(sort $(filter-out t/unit/test_%.c, \
	$(wildcard t/unit/*.c))))

# Of the bench: t/bench/NAME_main.c and the files that all of them share.
BENCH_OBJS := $(call obj,$(sort $(filter-out %_main.c, \
	$(wildcard t/bench/*.c))))
BENCH := $(patsubst t/bench/%_main.c,$(B)/bench/%, \
	$(sort $(wildcard t/bench/*_main.c)))

# Beside which validation is measured, where it is installed.
CXX ?= g++
SIMDJSON := $(if $(SAN)$(TSAN)$(FUZZ)$(COVERAGE),,$(shell \
	printf '\043include <simdjson.h>\n' | $(CXX) -E -x c++ - >/dev/null 2>&1 \
	&& echo $(B)/bench/bench_simdjson))

# What tests preload into NGINX; never built with a sanitizer of its own.
FAULTS := $(patsubst t/faults/%.c,$(B)/faults/%.so, \
	$(sort $(wildcard t/faults/*.c)))

FUZZ_TARGETS := $(patsubst t/fuzz/fuzz_%.c,%, \
	$(sort $(wildcard t/fuzz/fuzz_*.c)))
FUZZ_HELP := $(call obj,$(sort $(filter-out t/fuzz/fuzz_%.c \
	t/fuzz/bridge_%.c t/fuzz/runner_%.c t/fuzz/nginx_%.c \
	$(if $(FUZZ),t/fuzz/replay.c), \
	$(wildcard t/fuzz/*.c))) \
	$(addprefix t/unit/,protocol_memory.c protocol_host.c protocol_offers.c \
	protocol_tools.c \
	base_json_ref.c))

.PHONY: all unit replay threads
.DELETE_ON_ERROR:
.SECONDARY:

all: $(CORE) $(PROGS) $(SO) $(B)/libtoolgate.so $(B)/libtoolgate.a $(HOST) \
	$(BENCH) $(SIMDJSON) $(FAULTS)
unit: $(TESTS)
replay: $(addprefix $(B)/fuzz/,$(FUZZ_TARGETS))
# What has threads, and what its tests need besides.
threads: $(SO) $(B)/libtoolgate.so $(HOST) $(B)/toolgate-bridge \
	$(filter $(B)/unit/test_threading_%,$(TESTS))

# Two stamps, written only when their text changes: objects depend on the
# flags, links on the list of sources (so that a deleted file leaves too).
define stamp
$(shell mkdir -p $(B) && printf '%s\n' '$(2)' | cmp -s - $(B)/$(1) || \
	printf '%s\n' '$(2)' > $(B)/$(1))
endef
FLAGS_TEXT := $(CC) $(TG_CFLAGS) $(STD_C11) $(STD) $(TG_LDFLAGS) $(LIBS)
$(call stamp,flags.stamp,$(subst ','\'',$(FLAGS_TEXT)))
$(call stamp,sources.stamp,$(sort $(wildcard module/*/*.c module/*/*/*.c \
	t/unit/*.c t/bench/*.c t/fuzz/*.c t/host/*.c)))

$(call obj,$(call src,$(C11_FOLDERS))): $(B)/obj/%.o: %.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(CC) $(STD_C11) $(TG_CFLAGS) -c -o $@ $<

$(B)/obj/%.o: %.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(CC) $(STD) $(TG_CFLAGS) -c -o $@ $<

$(CORE): $(call obj,$(call src,$(C11_FOLDERS))) $(B)/sources.stamp
	@rm -f $@
	ar rcs $@ $(filter %.o,$^)

link = $(CC) $(TG_LDFLAGS) -o $@ $(filter %.o,$^) \
	$(filter %.a,$^) $(1)

$(B)/toolgate-runner: $(call obj,$(RUNNER_MAIN)) $(call folder,runner tasks) \
		$(UV) $(CORE) $(B)/sources.stamp
	$(call link,$(UV_LIBS) $(PCRE_LIBS))

$(B)/toolgate-bridge: $(call obj,$(BRIDGE_MAIN)) $(call folder,bridge) $(UV) \
		$(CORE) $(B)/sources.stamp
	$(call link,$(UV_LIBS))

$(B)/toolgate: $(call obj,$(CLIENT_MAIN)) $(call folder,cli lib) $(THREAD) \
		$(UV) $(CORE) $(B)/sources.stamp
	$(call link,$(LIBS))

$(SO): $(SO_OBJS) $(SO_MAP) $(B)/sources.stamp
	$(CC) $(SO_LDFLAGS) $(SO_FLAGS) -o $@ $(filter %.o,$^) $(SO_LIBS)

$(B)/libtoolgate.so: $(SO)
	ln -sf $(SONAME) $@

# The same in one object, in which nothing else has a name.
$(B)/libtoolgate.a: $(SO_OBJS) $(SO_MAP) $(B)/sources.stamp
	@rm -f $@
	$(CC) -r -nostdlib -o $(B)/toolgate.o $(filter %.o,$^)
	sed -n 's/^ *\(toolgate_[a-z_]*\);$$/\1/p' $(SO_MAP) > $(B)/toolgate.names
	objcopy --keep-global-symbols=$(B)/toolgate.names $(B)/toolgate.o
	ar rcs $@ $(B)/toolgate.o
	@rm -f $(B)/toolgate.o

# As users build theirs: the header and the library, nothing else of ours.
$(HOST): $(wildcard t/host/*.c) t/host/host.h t/libraries/detached.h \
		$(wildcard module/api/*.h) $(SO) \
		$(B)/libtoolgate.so $(B)/flags.stamp $(B)/sources.stamp
	$(CC) $(STD) $(OPT) $(WARN) -Imodule/api -o $@ \
		$(filter %.c %.o,$^) -L$(B) -ltoolgate -Wl,-rpath,'$$ORIGIN' \
		-luv -lpthread $(LDOPT)

# Makes the search for leaks faster.
$(PROGS) $(HOST) $(BENCH) $(TESTS) $(addprefix $(B)/fuzz/,$(FUZZ_TARGETS)): \
	$(if $(SAN),$(B)/obj/t/san/roots.o)

$(BENCH): $(B)/bench/%: $(B)/obj/t/bench/%_main.o $(BENCH_OBJS) \
		$(CORE) $(B)/sources.stamp
	@mkdir -p $(@D)
	$(call link,$(BENCH_LIBS))

# As a program of somebody's.
$(B)/bench/bench_host: $(B)/libtoolgate.so
$(B)/bench/bench_host: BENCH_LIBS := -L$(B) -ltoolgate -Wl,-rpath,'$$ORIGIN/..'

$(SIMDJSON): t/bench/bench_simdjson_main.cc $(BENCH_OBJS) $(B)/sources.stamp
	@mkdir -p $(@D)
	$(CXX) -O2 -g -o $@ $(filter %.cc %.o,$^) -lsimdjson

$(FAULTS): $(B)/faults/%.so: t/faults/%.c t/faults/tg_faults.h \
		$(B)/flags.stamp
	@mkdir -p $(@D)
	$(CC) $(STD) -O2 -g $(WARN) -fPIC -shared -o $@ $< -ldl

# test_FOLDER_topic.c: the folder's objects, libuv's where the folder uses it,
# core, and the patterns that core leaves to its host.
test_folder = $(word 2,$(subst _, ,$(1)))
test_host = $(filter-out $(C11_FOLDERS),$(call test_folder,$(1)))
test_objs = $(call host_objs,$(1)) $(UV) $(if $(filter cli lib,$(1)),$(THREAD))
define test_rule
$(B)/unit/$(1): $(B)/obj/t/unit/$(1).o $(TEST_HELP) \
		$(sort $(if $(call test_host,$(1)), \
		$(call test_objs,$(call test_host,$(1))))) \
		$(CORE) $(B)/sources.stamp
	@mkdir -p $$(@D)
	$$(call link,$(CUNIT_LIBS) $(if $(call test_host,$(1)), \
		$(call folder_libs,$(call test_host,$(1))),$(PCRE_LIBS)))
endef
$(foreach t,$(notdir $(TESTS)),$(eval $(call test_rule,$(t))))

# fuzz_FOLDER_topic.c, likewise.  What must not really happen (processes,
# sockets, time) is replaced: whole files are left out, or single functions
# wrapped.
fuzz_left_out = $(call obj,$(if $(filter bridge_%,$(1)), \
	module/bridge/tg_bridge_log.c module/transport/tg_uv_conn_io.c))
fuzz_wraps_bridge_agent := uv_run uv_now uv_timer_start uv_signal_start \
	uv_pipe_connect poll tg_bridge_schema_file_load \
	tg_bridge_parent_init
fuzz_wraps_bridge_parent := $(fuzz_wraps_bridge_agent)
fuzz_wraps_runner_mcp := uv_timer_start
fuzz_wraps_runner_streamable := uv_timer_start uv_now tg_http_exchange_start \
	tg_http_exchange_cancel tg_curl_loop_open tg_http_exchange_resume \
	tg_http_exchange_set_held_bytes
fuzz_wraps_nginx_pass := socket connect getsockopt close
fuzz_wraps_runner_exec := tg_spawn tg_pid_list_for_each tg_proc_signal kill \
	waitpid uv_timer_start
fuzz_wrap = $(addprefix -Wl$(comma)--wrap=,$(fuzz_wraps_$(1)))
fuzz_folder = $(firstword $(subst _, ,$(1)))
fuzz_host = $(filter-out $(C11_FOLDERS) nginx,$(call fuzz_folder,$(1)))
# Of the NGINX module single files, between their ends with NGINX.
fuzz_files_nginx_pass := $(call obj,$(addprefix module/nginx/, \
	handlers/ngx_tg_pass.c call/ngx_tg_call_response.c \
	call/ngx_tg_upstream_peer.c sched/ngx_tg_log_throttle.c \
	sched/ngx_tg_sched.c \
	$(addprefix upstream/ngx_tg_,backend.c backend_conn.c backend_call.c \
	upstream_request.c upstream_conn_connect.c upstream_conn_io.c)))
$(B)/obj/module/nginx/%.o $(B)/obj/t/fuzz/nginx_side.o \
	$(B)/obj/t/fuzz/fuzz_nginx_pass.o: TG_CFLAGS += \
	$(addprefix -isystem $(B)/nginx/,src/core src/event src/event/modules \
	src/os/unix objs src/stream)
define fuzz_rule
$(B)/fuzz/$(1): $(B)/obj/t/fuzz/fuzz_$(1).o $(FUZZ_HELP) \
		$(call obj,$(wildcard t/fuzz/$(call fuzz_folder,$(1))_*.c)) \
		$(fuzz_files_$(1)) \
		$(sort $(filter-out $(call fuzz_left_out,$(1)), \
		$(if $(call fuzz_host,$(1)), \
		$(call host_objs,$(call fuzz_host,$(1))) $(UV)))) \
		$(CORE) $(B)/sources.stamp
	@mkdir -p $$(@D)
	$$(call link,$(call folder_libs,$(call fuzz_folder,$(1))) \
		$$(call fuzz_wrap,$(1)))
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz_rule,$(t))))

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
