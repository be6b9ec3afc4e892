/* Creation of a child process with clone3(), or vfork() as a fallback. */
#include "runner/process/tg_clone.h"

#include "base/tg_base.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef TG_HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* Stack size in bytes, for execve() and the preparations for it. */
#define TG_CLONE_STACK 32768

#if defined(__x86_64__) && defined(__LP64__)

/*
 * Shares the memory, as copying page tables would take longer. The child needs
 * its own stack: it must not return on the parent's.
 */
static pid_t
tg_clone3(struct clone_args args, tg_clone_run_pt run, void *ctx)
{
    char stack[TG_CLONE_STACK] __attribute__((aligned(16)));
    long rc;

    args.flags |= CLONE_VM;
    args.stack = (uint64_t) (uintptr_t) stack;
    args.stack_size = sizeof(stack);

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "mov %[ctx], %%rdi\n\t"
                     "xor %%esi, %%esi\n\t"
                     "call *%[run]\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(rc)
                     : "0"((long) SYS_clone3), "D"(&args),
                       "S"(sizeof(args)), [run] "r"(run), [ctx] "r"(ctx)
                     : "rcx", "r11", "memory", "cc");

#ifdef TG_HAS_ASAN
    /* Clears the state of the child's frames, which never returned. */
    __asan_unpoison_memory_region(stack, sizeof(stack));
#endif

    if (rc < 0) {
        errno = (int) -rc;
    }

    return rc < 0 ? -1 : (pid_t) rc;
}

#else

static pid_t
tg_clone3(struct clone_args args, tg_clone_run_pt run, void *ctx)
{
    pid_t child;

    /* Unshared memory would take longer than vfork(). */
    if (!(args.flags & CLONE_INTO_CGROUP)) {
        errno = ENOSYS;
        return -1;
    }

    child = (pid_t) syscall(SYS_clone3, &args, sizeof(args));

    if (child == 0) {
        run(ctx, 0);
    }

    return child;
}

#endif

pid_t
tg_clone_child(int cgroup, tg_clone_run_pt run, void *ctx)
{
    struct clone_args args;
    pid_t child;

    memset(&args, 0, sizeof(args));
    args.flags = CLONE_VFORK | CLONE_CLEAR_SIGHAND;
    args.exit_signal = SIGCHLD;

    if (cgroup != -1) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t) cgroup;
    }

    child = tg_clone3(args, run, ctx);

    if (child != -1 || cgroup != -1) {
        return child;
    }

    /* Kernels before 5.5 lack CLONE_CLEAR_SIGHAND; some sandboxes, clone3(). */

    child = vfork();

    if (child == 0) {
        run(ctx, 1);
    }

    return child;
}
