#!/bin/bash
# A node joins with the kubeadm of the control plane's version, while its
# kubelet keeps the version of its own group.
set -euo pipefail

wanted="{{ .controlPlane.version }}"
own=$(kubeadm version -o short)
if [ "$own" = "$wanted" ]; then
  exit 0
fi
# The node image may bring it.
brought="/opt/kubeadm/$wanted/kubeadm"
if [ -x "$brought" ]; then
  install -m 0755 "$brought" "$(command -v kubeadm)"
  exit 0
fi
case "$(uname -m)" in
  x86_64) arch=amd64 ;;
  aarch64) arch=arm64 ;;
  *) echo "no kubeadm for the architecture $(uname -m)" >&2; exit 1 ;;
esac
# Lines of: version architecture sha256 url. A dash is a checksum that the bundle does not have.
read -r sum url < <(awk -v v="$wanted" -v a="$arch" '$1 == v && $2 == a { print $3, $4 }' /etc/clusterctl-x/kubeadm-downloads) || {
  # A kubeadm of another patch joins as well.
  if [ "$(cut -d. -f1,2 <<<"$own")" = "$(cut -d. -f1,2 <<<"$wanted")" ]; then
    exit 0
  fi
  echo "the versions bundle has no kubeadm $wanted for $arch" >&2
  exit 1
}
if [ -f /etc/clusterctl-x/proxy.env ]; then
  set -a
  . /etc/clusterctl-x/proxy.env
  set +a
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fetch() {
  curl --fail --silent --show-error --location --retry 5 --retry-all-errors --output "$dir/$1" "$2"
}
if [ "${url#file://}" != "$url" ]; then
  cp "${url#file://}" "$dir/kubeadm"
  if [ "$sum" = - ]; then
    sum=$(sha256sum "$dir/kubeadm" | cut -d " " -f 1) # as good as the node image
  fi
else
  fetch kubeadm "$url"
  if [ "$sum" = - ]; then
    fetch sha256 "$url.sha256"
    sum=$(awk '{ print $1; exit }' "$dir/sha256")
  fi
fi
echo "$sum  $dir/kubeadm" | sha256sum --check --quiet
install -m 0755 "$dir/kubeadm" "$(command -v kubeadm)"
