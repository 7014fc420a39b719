#!/bin/bash
# A node joins with the kubeadm of the control plane's version, while its
# kubelet keeps the version of its own group.
set -euo pipefail

wanted="{{ .controlPlane.version }}"
own=$(kubeadm version -o short)
if [ "$own" = "$wanted" ]; then
  exit 0
fi
case "$(uname -m)" in
  x86_64) arch=amd64 ;;
  aarch64) arch=arm64 ;;
  *) echo "no kubeadm for the architecture $(uname -m)" >&2; exit 1 ;;
esac
# Lines of: version architecture sha256 url
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
file=$(mktemp)
trap 'rm -f "$file"' EXIT
curl --fail --silent --show-error --location --retry 5 --retry-all-errors --output "$file" "$url"
echo "$sum  $file" | sha256sum --check --quiet
install -m 0755 "$file" "$(command -v kubeadm)"
