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
	created := func(objects ...*unstructured.Unstructured) []changes.Change {
		var all []changes.Change
		for _, o := range objects {
			all = append(all, changes.Change{Object: changes.ObjectName(o), Action: changes.Added})
		}
		return all
	}
	refused := errors.New("webhook says no")

	tests := map[string]struct {
		calls   func(w *MockwriterMockRecorder) []*gomock.Call
		want    []changes.Change
		wantErr string
	}{
		"new cluster": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(created(cluster), nil),
					w.Try(gomock.Any(), controlPlane).Return(created(controlPlane), nil),
					w.Try(gomock.Any(), group).Return(created(group), nil),
					w.Begin(gomock.Any(), gomock.Not(gomock.Len(0))).Return(nil),
					w.Write(gomock.Any(), cluster).Return(nil),
					w.Write(gomock.Any(), controlPlane).Return(nil),
					w.Write(gomock.Any(), group).Return(nil),
				}
			},
			want: created(objects...),
		},
		"stopped half-way: what is missing is added": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(nil, nil),
					w.Try(gomock.Any(), controlPlane).Return(nil, nil),
					w.Try(gomock.Any(), group).Return(created(group), nil),
					w.Begin(gomock.Any(), gomock.Not(gomock.Len(0))).Return(nil),
					w.Write(gomock.Any(), group).Return(nil),
				}
			},
			want: created(group),
		},
		"equal cluster": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(nil, nil),
					w.Try(gomock.Any(), controlPlane).Return(nil, nil),
					w.Try(gomock.Any(), group).Return(nil, nil),
					w.Begin(gomock.Any(), gomock.Len(0)).Return(nil),
				}
			},
		},
		"an object is refused: nothing is written": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(created(cluster), nil),
					w.Try(gomock.Any(), controlPlane).Return(nil, refused),
				}
			},
			wantErr: "trying to apply KubeadmControlPlane/a: webhook says no",
		},
		"one object differs: all are compared, nothing is written": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(nil, nil),
					w.Try(gomock.Any(), controlPlane).Return([]changes.Change{{Object: "KubeadmControlPlane/a", Path: "spec.replicas", Action: changes.Changed, Old: "1", New: "3"}}, nil),
					w.Try(gomock.Any(), group).Return(created(group), nil),
				}
			},
			wantErr: "cluster a exists and does not match the file; 'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what\n" +
				"  KubeadmControlPlane/a spec.replicas: 1 -> 3",
		},
		"the record cannot be written: no object is": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(created(cluster), nil),
					w.Try(gomock.Any(), controlPlane).Return(created(controlPlane), nil),
					w.Try(gomock.Any(), group).Return(created(group), nil),
					w.Begin(gomock.Any(), gomock.Not(gomock.Len(0))).Return(refused),
				}
			},
			wantErr: "webhook says no",
		},
		"a write fails: no further one follows": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(created(cluster), nil),
					w.Try(gomock.Any(), controlPlane).Return(created(controlPlane), nil),
					w.Try(gomock.Any(), group).Return(created(group), nil),
					w.Begin(gomock.Any(), gomock.Not(gomock.Len(0))).Return(nil),
					w.Write(gomock.Any(), cluster).Return(nil),
					w.Write(gomock.Any(), controlPlane).Return(context.DeadlineExceeded),
				}
			},
			wantErr: "applying KubeadmControlPlane/a: context deadline exceeded; run the same command again to continue",
		},
		"the time ends before a write: the command says how to continue": {
			calls: func(w *MockwriterMockRecorder) []*gomock.Call {
				return []*gomock.Call{
					w.Try(gomock.Any(), cluster).Return(created(cluster), nil),
					w.Try(gomock.Any(), controlPlane).Return(created(controlPlane), nil),
					w.Try(gomock.Any(), group).Return(created(group), nil),
					w.Begin(gomock.Any(), gomock.Not(gomock.Len(0))).Return(nil),
					w.Write(gomock.Any(), cluster).Return(ErrTimeout),
				}
			},
			wantErr: "timed out while applying Cluster/a",
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
