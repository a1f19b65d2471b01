#include <intake/sha256.h>

#include <new>

#include <openssl/evp.h>

namespace splitcount::intake {
namespace {

/// OpenSSL's digest calls fail only where memory is short.
void require(bool done) {
  if (!done) throw std::bad_alloc();
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

Sha256::Sha256(const Sha256& other) : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr && EVP_MD_CTX_copy_ex(context_.get(), other.context_.get()) == 1);
}

Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) *this = Sha256(other);
  return *this;
}

void Sha256::update(std::string_view bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

Digest Sha256::digest() const {
  Sha256 copy(*this);
  Digest digest{};
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(copy.context_.get(), digest.data(), &size) == 1 && size == digest.size());
  return digest;
}

Digest Sha256::of(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes);
  return sha.digest();
}

}  // namespace splitcount::intake
