#include "c_names.h"
#include <string.h>

/* C23, C++26 and its technical specifications. */
static const char keywords[] =
    "alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand "
    "bitor bool break case catch char char16_t char32_t char8_t class co_await co_return "
    "co_yield compl concept const const_cast consteval constexpr constinit continue "
    "contract_assert decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public reflexpr register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert "
    "static_cast struct switch synchronized template this thread_local throw true try typedef "
    "typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t "
    "while xor xor_eq";

/* Of glibc's and POSIX's headers, with _GNU_SOURCE, and of compilers: those that are replaced wherever they stand. Not
 * those without a small letter, nor the families below. */
static const char macros[] =
    "L_ctermid L_cuserid L_tmpnam P_tmpdir arp_hln arp_hrd arp_op arp_pln arp_pro assert "
    "b64_ntop b64_pton basename bool complex d_fileno direct dn_count_labels dq_bhardlimit "
    "dq_bsoftlimit dq_btime dq_curinodes dq_curspace dq_ihardlimit dq_isoftlimit dq_itime "
    "dq_valid environ errno false fp_nquery fp_query fp_resstat h_addr h_errno hostalias hpux "
    "i386 icmp6_data16 icmp6_data32 icmp6_data8 icmp6_id icmp6_maxdelay icmp6_mtu icmp6_pptr "
    "icmp6_seq icmp_data icmp_gwaddr icmp_id icmp_ip icmp_lifetime icmp_mask icmp_nextmtu "
    "icmp_num_addrs icmp_otime icmp_pmvoid icmp_pptr icmp_radv icmp_rtime icmp_seq icmp_ttime "
    "icmp_void icmp_wpa ifa_broadaddr ifa_dstaddr ifc_buf ifc_req ifr__name ifr_addr "
    "ifr_bandwidth ifr_broadaddr ifr_data ifr_dstaddr ifr_flags ifr_hwaddr ifr_ifindex "
    "ifr_map ifr_metric ifr_mtu ifr_name ifr_netmask ifr_newname ifr_qlen ifr_slave imaginary "
    "ip6_flow ip6_hlim ip6_hops ip6_nxt ip6_plen ip6_vfc linux loc_aton loc_ntoa "
    "math_errhandling mips mld_cksum mld_code mld_maxdelay mld_reserved mld_type msg_cbytes "
    "nd_na_cksum nd_na_code nd_na_flags_reserved nd_na_type nd_ns_cksum nd_ns_code "
    "nd_ns_reserved nd_ns_type nd_ra_cksum nd_ra_code nd_ra_curhoplimit nd_ra_flags_reserved "
    "nd_ra_router_lifetime nd_ra_type nd_rd_cksum nd_rd_code nd_rd_reserved nd_rd_type "
    "nd_rs_cksum nd_rs_code nd_rs_reserved nd_rs_type no_argument noreturn nsaddr "
    "optional_argument p_cdname p_cdnname p_class p_fqname p_fqnname p_option p_query p_rcode "
    "p_time p_type putlong putshort required_argument res_close res_hostalias res_init "
    "res_isourserver res_nameinquery res_nclose res_ninit res_queriesmatch res_randomid "
    "rip_nets rip_tracefile rr_cksum rr_code rr_seqnum rr_type rt_mss s6_addr s6_addr16 "
    "s6_addr32 sa_handler sa_sigaction sax25_uid sched_priority sgi si_addr si_addr_lsb "
    "si_arch si_band si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr "
    "si_status si_stime si_syscall si_timerid si_uid si_upper si_utime si_value "
    "sigev_notify_attributes sigev_notify_function sipx_action sipx_special sparc ss_name "
    "ss_speed st_atime st_ctime st_mtime static_assert stats_ptr stderr stdin stdout sun "
    "sym_ntop sym_ntos sym_ston th_block th_code th_data th_msg th_stuff thread_local true "
    "tsp_hopcnt tsp_time unix ut_addr ut_name ut_time ut_xtime vax xEOF";

/* Families: all that begin so. */
static const char *const macro_families[] = {"PRI", "SCN", "M_", "SYS_", "AF_", "PF_"};

/* <NAME.h> of the C library, of POSIX and Linux, and of compilers for the processors they are for. */
static const char headers[] =
    "aio aliases alloca altivec ar argp argz arm_acle arm_bf16 arm_cde arm_cmse arm_fp16 "
    "arm_mte arm_mve arm_neon arm_sme arm_sve assert backtrace byteswap cet complex cpio "
    "cpuid crypt ctype dirent dlfcn elf endian envz err errno error execinfo fcntl features "
    "fenv float fmtmsg fnmatch fpu_control fstab fts ftw gconv gcov getopt glob grp gshadow "
    "iconv ieee754 ifaddrs inttypes iso646 langinfo lastlog libgen libintl limits link locale "
    "malloc math mcheck memory mm3dnow mm_malloc mntent monetary mqueue ndbm netdb nl_types "
    "nmmintrin nss obstack omp openacc paths poll printf proc_service pthread pty pwd "
    "quadmath quadmath_weak re_comp regex regexp resolv riscv_bitmanip riscv_crypto "
    "riscv_ntlh riscv_vector sched search semaphore setjmp sgtty shadow signal spawn stab "
    "stdalign stdarg stdatomic stdbit stdbool stdckdint stdcountof stddef stdfix stdint stdio "
    "stdio_ext stdlib stdnoreturn string strings syscall sysexits syslimits syslog tar termio "
    "termios tgmath thread_db threads time ttyent uchar ucontext ulimit unistd unwind utime "
    "utmp utmpx values varargs wait wchar wctype wordexp";

/* <NAME>, and folders that are included from. */
static const char cxx_headers[] =
    "algorithm any arpa array asm atomic backward barrier bit bits bitset cassert ccomplex "
    "cctype cerrno cfenv cfloat charconv chrono cinttypes ciso646 climits clocale cmath "
    "codecvt compare complex concepts condition_variable contracts coroutine csetjmp csignal "
    "cstdalign cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar "
    "cwchar cwctype cxxabi debug debugging decimal deque drm exception execution expected "
    "experimental ext filesystem flat_map flat_set format forward_list fstream functional "
    "future generator hazard_pointer hive initializer_list inplace_vector iomanip ios iosfwd "
    "iostream istream iterator latch limits linalg linux list locale map mdspan memory "
    "memory_resource meta mutex net netinet new numbers numeric optional ostream parallel "
    "print pstl queue random ranges ratio rcu regex rpc scoped_allocator scsi semaphore set "
    "shared_mutex simd sound source_location span spanstream sstream stack stacktrace "
    "stdexcept stdfloat stop_token streambuf string string_view strstream syncstream sys "
    "system_error text_encoding thread tr1 tr2 tuple type_traits typeindex typeinfo "
    "unordered_map unordered_set utility valarray variant vector version";

/* Libraries that a compiler links by itself or for -pthread, -lm, -fopenmp, sanitizers. */
static const char libraries[] =
    "anl asan atomic c crypt dl gcc gcc_eh gcc_s gfortran gomp hwasan itm lsan m nsl omp "
    "pthread quadmath resolv rt ssp stdc tsan ubsan unwind util";

/* Targets of CMake's own, and prefixes of its variables. */
static const char cmake_words[] =
    "ALL_BUILD CMAKE CONTINUOUS CTEST EXPERIMENTAL INSTALL NIGHTLY PACKAGE PROJECT RUN_TESTS "
    "ZERO_CHECK all clean cmake depend edit_cache help install list_install_components "
    "package package_source preinstall rebuild_cache test";

static bool in_list(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *p = list; n > 0 && (p = strstr(p, word)); p += n) {
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) return true;
    }
    return false;
}

static bool ends_in(const char *word, const char *end) {
    size_t n = strlen(word), m = strlen(end);
    return n >= m && strcmp(word + n - m, end) == 0;
}

bool infc_c_keyword(const char *word) { return in_list(keywords, word); }

bool infc_c_macro(const char *word) {
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (strcmp(word, "I") == 0 || in_list(macros, word)) return true;
    if (word[0] && word[1] && strspn(word, capitals) == strlen(word)) return true;
    for (size_t i = 0; i < sizeof macro_families / sizeof *macro_families; i++)
        if (strncmp(word, macro_families[i], strlen(macro_families[i])) == 0) return true;
    return false;
}

bool infc_c_header(const char *word) {
    return in_list(headers, word) || in_list(cxx_headers, word) ||
           (ends_in(word, "intrin") && !strchr(word, '_')); /* immintrin and the like */
}

bool infc_c_library(const char *word) { return in_list(libraries, word); }
bool infc_cmake_word(const char *word) { return in_list(cmake_words, word); }
