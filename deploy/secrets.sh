#!/bin/sh
# Create the secrets of compose.yaml in deploy/secrets, each in a file of its own. Existing files stay
# as they are. Run it as root: containers read them as the users named below.
set -eu
umask 077

folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"

random() {
    python3 -c 'import secrets; print(secrets.token_urlsafe(36), end="")'
}

# write NAME OWNER TEXT
write() {
    if [ ! -e "$folder/$1" ]; then
        printf %s "$3" > "$folder/$1"
        echo "created $folder/$1"
    fi
    if [ "$(id -u)" = 0 ]; then
        chown "$2" "$folder/$1"
        chmod 400 "$folder/$1"
    fi
}

LATCHKEY=10001 VALKEY=999 ROOT=0

write database_password $ROOT "$(random)"
write valkey_password $ROOT "$(random)"
database_password=$(cat "$folder/database_password")
valkey_password=$(cat "$folder/valkey_password")
write database_url $LATCHKEY "postgresql://latchkey:$database_password@database/latchkey"
write redis_url $LATCHKEY "redis://:$valkey_password@valkey:6379/0"
write valkey_acl $VALKEY "user default on >$valkey_password ~* &* +@all"
write secret_key $LATCHKEY "$(random)"
write secret_key_fallbacks $LATCHKEY ""

for name in mail_url certificate.pem certificate-key.pem; do
    if [ ! -e "$folder/$name" ]; then
        echo "Still to do: $folder/$name" >&2
        missing=1
    fi
done
[ -e "$folder/mail_url" ] && write mail_url $LATCHKEY ""
[ -e "$folder/certificate-key.pem" ] && write certificate-key.pem $ROOT ""
[ -z "${missing:-}" ] || echo "mail_url holds smtp://user:password@host:587, the others the TLS certificate and its key." >&2
