#!/bin/sh
# Creates an authority, certificates and passwords for docker-compose.tls.yml, in a new folder (tls by default).
#
# The folder can be entered only by its owner. The files in it are readable by everyone, because the programs in the containers
# have other users.
set -eu
folder=${1:-tls}
if [ -e "$folder" ]; then
  echo "$folder exists: remove it first, or name another folder" >&2
  exit 1
fi
mkdir -m 700 "$folder"
mkdir "$folder/files"
chmod 755 "$folder/files"
cd "$folder"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/O=Backstop/CN=Backstop authority" \
  -addext keyUsage=critical,keyCertSign,cRLSign -keyout ca-key.pem -out files/ca.pem 2>/dev/null

# The host name of a container is its service name. Programs on this machine use 127.0.0.1.
issue() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/O=Backstop/OU=$1/CN=$1" -keyout "$1-key.pem" -out "$1.csr" 2>/dev/null
  printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1\n' "$1" > "$1.extensions"
  openssl x509 -req -in "$1.csr" -CA files/ca.pem -CAkey ca-key.pem -CAcreateserial -days 825 -extfile "$1.extensions" -out "$1.pem" 2>/dev/null
}
for name in kafka mongo registry; do issue "$name"; done
# Kafka and MongoDB read the key and the certificate from one file.
cat kafka-key.pem kafka.pem > files/kafka.pem
cat mongo-key.pem mongo.pem > files/mongo.pem
cp registry.pem registry-key.pem files/

kafka_password=$(openssl rand -hex 24)
mongo_password=$(openssl rand -hex 24)
printf 'backstop\n' > files/kafka-username
printf '%s\n' "$kafka_password" > files/kafka-password
printf '%s\n' "$mongo_password" > files/mongo-password
printf 'mongodb://backstop:%s@mongo:27017/?replicaSet=rs0&authSource=admin\n' "$mongo_password" > files/mongo-url
printf 'KafkaClient { org.apache.kafka.common.security.scram.ScramLoginModule required username="backstop" password="%s"; };\n' \
  "$kafka_password" > files/registry.jaas
rm -f ./*.csr ./*.extensions ./*.srl files/*.srl kafka-key.pem kafka.pem mongo-key.pem mongo.pem registry-key.pem registry.pem
chmod 644 files/*
chmod 600 ca-key.pem
