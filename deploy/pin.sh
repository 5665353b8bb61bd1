#!/bin/sh
# Pin the images of deploy/ by digest (image:tag@sha256:...). Needs a network and Docker's buildx; run it
# again to follow a tag to its newest image, and commit the result.
set -eu
cd "$(dirname "$0")"

images() {
    sed -nE 's/^FROM ([^ ]+).*/\1/p' Dockerfile
    sed -nE 's/^ +image: ([^ ]+)$/\1/p' compose.yaml kubernetes/*.yaml
}

images | sed 's/@sha256:.*//' | sort -u | while read -r image; do
    case $image in
        latchkey:*) continue ;;  # built here
    esac
    digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
    echo "$image@$digest"
    sed -i -E "s|(^FROM \|^ +image: )$image(@sha256:[0-9a-f]+)?( \|$)|\1$image@$digest\3|" \
        Dockerfile compose.yaml kubernetes/*.yaml
done
