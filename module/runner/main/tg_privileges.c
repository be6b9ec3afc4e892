/* Drops capabilities, and keeps programs from gaining privileges. */
#include "runner/main/tg_privileges.h"

#include "base/tg_base.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Drops capabilities that a service manager may have given NGINX alone, such as
 * for ports below 1024.
 */
static int
tg_privileges_drop_capabilities(void)
{
    struct __user_cap_header_struct header;
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

    /* EINVAL: Linux before 4.3, which has no ambient capabilities. */
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1
        && errno != EINVAL)
    {
        return -1;
    }

    memset(&header, 0, sizeof(header));
    header.version = _LINUX_CAPABILITY_VERSION_3;
    memset(none, 0, sizeof(none));

    return (int) syscall(SYS_capset, &header, none);
}

int
tg_privileges_drop(void)
{
    /* Prevents setuid programs from changing the user. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) {
        return -1;
    }

    if (geteuid() != 0 && tg_privileges_drop_capabilities() == -1) {
        return -1;
    }

#ifdef TG_HAS_ASAN
    /* LeakSanitizer inspects the process from another one. */
    return 0;
#else
    /*
     * Programs of this user must not read other calls' data from the runner's
     * memory. execve() resets this for programs.
     */
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}
