#!/bin/sh
# Creates the files with the secrets of docker-compose.yml, in the folder ./secrets or in the one that is named. Existing files are kept.
# A file gets the value of its setting in ./.env, if there is one; SECRET_KEYS and BOOTSTRAP_API_KEY are made up otherwise.
#
# The folder can be entered only by its owner. The files in it are readable by everyone, because the programs in the containers
# have another user.
set -eu
folder=${1:-secrets}
mkdir -p -m 700 "$folder"
chmod 700 "$folder"

# create NAME DEFAULT
create() {
  [ ! -e "$folder/$1" ] || return 0
  value=
  if [ -e .env ]; then value=$(sed -n "s/^$1=//p" .env | tail -n 1 | sed "s/^\(['\"]\)\(.*\)\1\$/\2/"); fi
  if [ -n "$value" ]; then echo "$folder/$1 has the value of .env: remove $1 from .env"; fi
  printf '%s\n' "${value:-$2}" > "$folder/$1"
  chmod 644 "$folder/$1"
}

create SECRET_KEYS "k1:$(head -c 32 /dev/urandom | base64)"
create BOOTSTRAP_API_KEY "bsk_$(head -c 24 /dev/urandom | od -An -tx1 | tr -d " \n")"
create SMTP_URL smtp://mail:1025
for name in OIDC_CLIENT_SECRET MAIL_EVENTS_TOKEN HEARTBEAT_ALARM_URL HEARTBEAT_PING_URL EGRESS_PROXY_URL OTEL_EXPORTER_OTLP_HEADERS; do
  create "$name" ''
done
