// Package version shows the version of clusterctl-x.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
)

type info struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// New returns the command version; where version is empty, it is that of the module.
func New(a *cli.App, version string) *cobra.Command {
	cmd := commandline.New("version", "Show the version of clusterctl-x", func(*cobra.Command, []string) error {
		info := info{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
		if build, ok := debug.ReadBuildInfo(); ok && info.Version == "" {
			info.Version = build.Main.Version
		}
		return a.PrintDocument("Version", info, func() error {
			return a.Write(fmt.Sprintf("clusterctl-x %s, %s, %s\n", info.Version, info.Go, info.Platform))
		})
	})
	cmd.PersistentPreRunE = a.WithoutSettings
	return cmd
}
