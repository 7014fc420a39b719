package management

import (
	"context"
	"errors"
	"testing"

	"github.com/golang/mock/gomock"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

func object(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}}
}

// TestCreateOrder holds the order of what create asks of a management cluster:
// every object is tried before anything is written, and the record is written before the
// first object.
func TestCreateOrder(t *testing.T) {
	t.Parallel()
	cluster, controlPlane, group := object("Cluster", "a"), object("KubeadmControlPlane", "a"), object("MachineDeployment", "a-md-0")
	objects := []*unstructured.Unstructured{cluster, controlPlane, group}
	change := func(o *unstructured.Unstructured, action Action, fields ...changes.Field) Change {
		return Change{Object: changes.ObjectName(o), Action: action, Fields: fields}
	}
	refused := errors.New("webhook says no")

	tests := map[string]struct {
		calls   func(w *MockwriterMockRecorder) []*gomock.Call
		want    []Change
		wantErr string
	}{
		"new cluster": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(change(cluster, Created), nil),
					w.Try(gomock.Any(), controlPlane).Return(change(controlPlane, Created), nil),
					w.Try(gomock.Any(), group).Return(change(group, Created), nil),
					w.Begin(gomock.Any()).Return(nil),
					w.Write(gomock.Any(), cluster).Return(nil),
					w.Write(gomock.Any(), controlPlane).Return(nil),
					w.Write(gomock.Any(), group).Return(nil),
				}
			},
			want: []Change{change(cluster, Created), change(controlPlane, Created), change(group, Created)},
		},
		"stopped half-way: what is missing is added": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(change(cluster, Unchanged), nil),
					w.Try(gomock.Any(), controlPlane).Return(change(controlPlane, Unchanged), nil),
					w.Try(gomock.Any(), group).Return(change(group, Created), nil),
					w.Begin(gomock.Any()).Return(nil),
					w.Write(gomock.Any(), group).Return(nil),
				}
			},
			want: []Change{change(cluster, Unchanged), change(controlPlane, Unchanged), change(group, Created)},
		},
		"equal cluster": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(change(cluster, Unchanged), nil),
					w.Try(gomock.Any(), controlPlane).Return(change(controlPlane, Unchanged), nil),
					w.Try(gomock.Any(), group).Return(change(group, Unchanged), nil),
					w.Begin(gomock.Any()).Return(nil),
				}
			},
			want: []Change{change(cluster, Unchanged), change(controlPlane, Unchanged), change(group, Unchanged)},
		},
		"an object is refused: nothing is written": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(change(cluster, Created), nil),
					w.Try(gomock.Any(), controlPlane).Return(Change{}, refused),
				}
			},
			wantErr: "trying to apply KubeadmControlPlane/a: webhook says no",
		},
		"one object differs: all are compared, nothing is written": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(change(cluster, Unchanged), nil),
					w.Try(gomock.Any(), controlPlane).Return(change(controlPlane, Changed, changes.Field{Path: "spec.replicas", Change: "would become 3"}), nil),
					w.Try(gomock.Any(), group).Return(change(group, Created), nil),
				}
			},
			wantErr: "cluster a exists and does not match the file; 'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what\n" +
				"  KubeadmControlPlane/a: spec.replicas would become 3",
		},
		"the record cannot be written: no object is": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(change(cluster, Created), nil),
					w.Try(gomock.Any(), controlPlane).Return(change(controlPlane, Created), nil),
					w.Try(gomock.Any(), group).Return(change(group, Created), nil),
					w.Begin(gomock.Any()).Return(refused),
				}
			},
			wantErr: "webhook says no",
		},
		"a write fails: no further one follows": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(change(cluster, Created), nil),
					w.Try(gomock.Any(), controlPlane).Return(change(controlPlane, Created), nil),
					w.Try(gomock.Any(), group).Return(change(group, Created), nil),
					w.Begin(gomock.Any()).Return(nil),
					w.Write(gomock.Any(), cluster).Return(nil),
					w.Write(gomock.Any(), controlPlane).Return(context.DeadlineExceeded),
				}
			},
			wantErr: "applying KubeadmControlPlane/a: context deadline exceeded; run the same command again to continue",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := NewMockwriter(gomock.NewController(t))
			gomock.InOrder(test.calls(w.EXPECT())...)
			got, err := create(t.Context(), w, "a", objects)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(test.wantErr, text); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
