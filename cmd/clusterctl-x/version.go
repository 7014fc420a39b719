package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker; a binary of 'go install' knows it from its module.
var version string

type versionInfo struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version of clusterctl-x",
		Args:  noArgs,

		PersistentPreRunE: a.withoutSettings,
		RunE: func(*cobra.Command, []string) error {
			info := versionInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			if build, ok := debug.ReadBuildInfo(); ok && info.Version == "" {
				info.Version = build.Main.Version
			}
			return a.print(document("Version", info), func() error {
				_, err := fmt.Fprintf(a.out, "clusterctl-x %s, %s, %s\n", info.Version, info.Go, info.Platform)
				return err
			})
		},
	}
}
