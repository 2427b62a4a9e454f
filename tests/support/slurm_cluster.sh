#!/usr/bin/env bash
# A Slurm cluster for tests: its nodes n1, n2, ... are all this machine, and its files are in FOLDER. It
# makes FOLDER/ready when all nodes are idle, and runs until its standard input ends. In a PID namespace of
# its own all that it started, jobs included, ends with it. Only who can read FOLDER can use it: munge
# refuses all others.
# Usage: unshare --pid --fork --kill-child --mount-proc tests/support/slurm_cluster.sh FOLDER PORT PORT...
# PORT: a free one for slurmctld, then one for each node
set -euo pipefail

folder=$1
controller_port=$2
shift 2
host=$(uname -n)
host=${host%%.*}

mkdir "$folder/spool" "$folder/state"
(umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")

# cred_expire, sched_interval: a requeued job starts again after 6 seconds, not after 121.
# config_overrides: a node may have more CPUs than the machine.
# Not NoInAddrAny: it binds to the address of the host name, which in containers is not that below.
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd_%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=0
PartitionName=main Nodes=ALL Default=YES
END
node=0
for port in "$@"; do
  node=$((node + 1))
  echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$port CPUs=4" >>"$folder/slurm.conf"
done
# Slurm 22.05 wants to know a cgroup version, though nothing here uses it. With this one it looks at
# nothing when it starts: containers may have no cgroups at all.
echo "CgroupPlugin=cgroup/v1" >"$folder/cgroup.conf"

# --force: the folders above may be open to others.
munged --foreground --force --num-threads=2 --key-file="$folder/munge.key" \
  --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
  --seed-file="$folder/munge.seed" &
export SLURM_CONF=$folder/slurm.conf
slurmctld -D -c &
for ((node = 1; node <= $#; ++node)); do
  slurmd -D -N "n$node" &
done

idle_nodes() { timeout 5 sinfo --noheader --states=idle --format=%D 2>/dev/null || true; }

until [ "$(idle_nodes)" = $# ]; do
  # One that has ended says why on its output: perhaps its port was taken meanwhile.
  [ "$(jobs -pr | wc -l)" -eq $(($# + 2)) ] || exit 1
  [ "$SECONDS" -lt 30 ] || exit 1
  sleep 0.05
done
touch "$folder/ready"
read -r _ || true
