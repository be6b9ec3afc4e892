/*
 * Part of all programs with AddressSanitizer. At exit, LeakSanitizer searches
 * all global variables for pointers. Half of that time is for the 10 MB of the
 * sanitizers themselves, which point to no memory of the program: this file
 * excludes them.
 */
#include <link.h>
#include <sanitizer/lsan_interface.h>
#include <string.h>

__attribute__((visibility("default"))) const char *
__lsan_default_options(void)
{
    return "use_globals=0";
}

static int
is_runtime(const char *path)
{
    const char *name = strrchr(path, '/');

    return name != NULL
           && (strncmp(name, "/libasan.", 9) == 0
               || strncmp(name, "/libubsan.", 10) == 0
               || strncmp(name, "/libclang_rt.", 13) == 0);
}

/* Registers the global variables of a program or library. */
static int
register_globals(struct dl_phdr_info *info, size_t size, void *data)
{
    int i, is_ours = !is_runtime(info->dlpi_name);

    for (i = 0; is_ours && i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD
            && (info->dlpi_phdr[i].p_flags & PF_W)) {
            __lsan_register_root_region((void *) (info->dlpi_addr
                                                  + info->dlpi_phdr[i].p_vaddr),
                                        info->dlpi_phdr[i].p_memsz);
        }
    }

    return 0;
}

/* Runs before the search for leaks, when all libraries are loaded. */
__attribute__((destructor)) static void
register_roots(void)
{
    dl_iterate_phdr(register_globals, NULL);
}
