/* serve_tls.c - see serve_tls.h. */
#include "serve_tls.h"
#include <stdlib.h>

#ifndef INFRT_SERVE_TLS

infrt_status infrt_tls_open(const char *cert, const char *key, infrt_tls **out, infrt_error *error) {
    *out = NULL;
    return infrt_fail(error, INFRT_ERR_USAGE,
                      "--tls-cert %s --tls-key %s: this program has no TLS; compile it with --set "
                      "serve.tls=true, "
                      "where libssl-dev is, or put a proxy in front of it",
                      cert ? cert : "-", key ? key : "-");
}
void infrt_tls_close(infrt_tls **tls) { *tls = NULL; }
struct bufferevent *infrt_tls_accept(infrt_tls *tls, struct event_base *base, int fd) {
    (void)tls;
    (void)base;
    (void)fd;
    return NULL;
}
void infrt_tls_end(struct bufferevent *bev) { (void)bev; }

#else

#include "serve_file.h"
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>

/* Of TLS 1.2: those with forward secrecy and authenticated encryption; TLS 1.3 has no others. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

enum { PEM_MOST = 1 << 20 };

struct infrt_tls {
    SSL_CTX *context;
};

/* The oldest of OpenSSL's complaints; the others follow from it. */
static const char *complaint(void) {
    const char *text = ERR_reason_error_string(ERR_peek_error());
    return text ? text : "it cannot be read";
}

/* A key that is encrypted is refused: nobody is there to be asked. */
static int no_password(char *out, int n, int writes, void *user) {
    (void)out;
    (void)n;
    (void)writes;
    *(bool *)user = true;
    return -1;
}

/* OpenSSL would open files itself, and wait for who writes into a FIFO. *text and *out are to be freed in any case. */
static infrt_status pem_open(const char *flag, const char *path, char **text, BIO **out, infrt_error *error) {
    size_t n;
    *out = NULL;
    ERR_clear_error(); /* of connections */
    const infrt_status status = infrt_serve_file_read(flag, path, PEM_MOST, false, text, &n, error);
    if (status == INFRT_OK) *out = BIO_new_mem_buf(*text, (int)n);
    if (status != INFRT_OK || *out) return status;
    return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for TLS");
}

/* The server's own certificate, then those that signed it. */
static bool chain_use(SSL_CTX *context, BIO *pem) {
    bool encrypted = false;
    X509 *own = PEM_read_bio_X509_AUX(pem, NULL, no_password, &encrypted), *next;
    bool good = own && SSL_CTX_use_certificate(context, own) == 1;
    X509_free(own);
    while (good && (next = PEM_read_bio_X509(pem, NULL, no_password, &encrypted))) {
        good = SSL_CTX_add0_chain_cert(context, next) == 1;
        if (!good) X509_free(next);
    }
    if (!good || ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) return false;
    ERR_clear_error(); /* it was the end */
    return true;
}

static infrt_status cert_read(SSL_CTX *context, const char *cert, infrt_error *error) {
    char *text;
    BIO *pem;
    infrt_status status = pem_open("--tls-cert ", cert, &text, &pem, error);
    const bool good = status == INFRT_OK && chain_use(context, pem);
    BIO_free(pem);
    free(text);
    if (status != INFRT_OK) return status;
    if (!good)
        return infrt_fail(error, INFRT_ERR_DATA, "--tls-cert %s: no certificates in PEM: %s", cert, complaint());
    const X509 *own = SSL_CTX_get0_certificate(context);
    if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
        return infrt_fail(error, INFRT_ERR_DATA, "--tls-cert %s: the certificate has expired; renew it", cert);
    if (X509_cmp_current_time(X509_get0_notBefore(own)) > 0)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "--tls-cert %s: the certificate is not valid yet; is the clock right?", cert);
    return INFRT_OK;
}

static infrt_status key_read(SSL_CTX *context, const char *cert, const char *key, infrt_error *error) {
    bool encrypted = false;
    char *text;
    BIO *pem;
    infrt_status status = pem_open("--tls-key ", key, &text, &pem, error);
    EVP_PKEY *own = status == INFRT_OK ? PEM_read_bio_PrivateKey(pem, NULL, no_password, &encrypted) : NULL;
    const bool good = own && SSL_CTX_use_PrivateKey(context, own) == 1;
    EVP_PKEY_free(own);
    BIO_free(pem);
    if (text) OPENSSL_cleanse(text, strlen(text));
    free(text);
    if (status != INFRT_OK) return status;
    if (encrypted)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "--tls-key %s: it is encrypted; openssl pkey -in %s writes it without "
                          "a password",
                          key, key);
    if (!good && ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH)
        return infrt_fail(error, INFRT_ERR_DATA, "--tls-key %s: it is not the key of %s", key, cert);
    if (!good)
        return infrt_fail(error, INFRT_ERR_DATA, "--tls-key %s: no private key in PEM: %s", key, complaint());
    if (SSL_CTX_check_private_key(context) == 1) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_DATA, "--tls-key %s: it is not the key of %s", key, cert);
}

infrt_status infrt_tls_open(const char *cert, const char *key, infrt_tls **out, infrt_error *error) {
    *out = NULL;
    if (!cert || !key)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s is given without %s; TLS needs both",
                          cert ? "--tls-cert" : "--tls-key", cert ? "--tls-key" : "--tls-cert");
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL); /* what it does is said here alone */
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    infrt_tls *tls = malloc(sizeof *tls);
    infrt_status status = INFRT_OK;
    if (!context || !tls || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(context, CIPHERS) != 1)
        status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for TLS");
    if (status == INFRT_OK) {
        /* Clients that close without saying so are as usual; each answer says itself how long it is. */
        SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                         SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
        status = cert_read(context, cert, error);
    }
    if (status == INFRT_OK) status = key_read(context, cert, key, error);
    ERR_clear_error();
    if (status == INFRT_OK) {
        *tls = (infrt_tls){context};
        *out = tls;
        return INFRT_OK;
    }
    SSL_CTX_free(context);
    free(tls);
    return status;
}

void infrt_tls_close(infrt_tls **tls) {
    if (!*tls) return;
    SSL_CTX_free((*tls)->context);
    free(*tls);
    *tls = NULL;
}

struct bufferevent *infrt_tls_accept(infrt_tls *tls, struct event_base *base, int fd) {
    SSL *ssl = SSL_new(tls->context);
    struct bufferevent *bev =
        ssl ? bufferevent_openssl_socket_new(base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE)
            : NULL;
    ERR_clear_error();
    if (bev) bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
    return bev;
}

void infrt_tls_end(struct bufferevent *bev) {
    SSL *ssl = bufferevent_openssl_get_ssl(bev);
    if (ssl && SSL_is_init_finished(ssl)) SSL_shutdown(ssl);
    ERR_clear_error();
}

#endif
