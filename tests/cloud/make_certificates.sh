#!/bin/bash
# Certificates for servers of tests on 127.0.0.1, each NAME.pem with its NAME.key in the folder:
#   good, expired, other_host   of the authority authority.pem
#   self_signed                 its own authority, and says so, as `openssl req -x509` makes them where nothing is asked for
#   make_certificates.sh FOLDER
set -euo pipefail
cd "$1"

cat >openssl.cnf <<'END'
[ca]
default_ca = authority
[authority]
database = index.txt
new_certs_dir = .
certificate = authority.pem
private_key = authority.key
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
[of_authority]
basicConstraints = critical, CA:TRUE
END
touch index.txt

new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -config openssl.cnf)
own() { openssl req -x509 "${new_key[@]}" -keyout "$1.key" -out "$1.pem" -subj "/CN=$1" -days 2 -extensions of_authority "${@:2}"; }

# NAME SUBJECT_ALT_NAME START END
signed() {
  openssl req "${new_key[@]}" -keyout "$1.key" -out request.pem -subj "/CN=$1"
  printf '[server]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = %s\n' "$2" >"$1.cnf"
  openssl ca -batch -notext -config openssl.cnf -extfile "$1.cnf" -extensions server -startdate "$3" -enddate "$4" \
    -in request.pem -out "$1.pem"
}

{
  own authority
  own self_signed -addext subjectAltName=IP:127.0.0.1
  signed good IP:127.0.0.1 20200101000000Z 20991231000000Z
  signed expired IP:127.0.0.1 20200101000000Z 20200102000000Z
  signed other_host DNS:store.example.com 20200101000000Z 20991231000000Z
} >log.txt 2>&1 || { cat log.txt >&2; exit 1; }
