; The thread pool of the runtime: one per process, over pthreads and atomics.
;
;   i32 xrelay_parallel_for(ptr ctx, ptr body, ptr env, i64 n)
;       runs body(ctx, env, begin, end) over a partition of [0, n) and returns 0 or the first non-zero status.
;
; One job runs at a time, owned by the caller that sets @busy. Other callers (a nested call, another thread of the
; program) run their range inline, which needs no thread-local state and cannot dead-lock.
;
; More threads than cores would wait for each other. An inline caller therefore limits the next jobs to the cores that
; are left (@crowd, @limit). A worker that runs on the owner's core halves the number of threads of the next jobs, neither
; of the two spins (@together), and the worker moves to another core. The system would leave it there for long: on a
; virtual machine a core that is halted may count as taken, so that a thread wakes up where it went to sleep.
;
; A job is divided into as many equal shares as it has threads, and each share into 32 chunks. A thread has the same
; share in every job, so it finds data where the previous job left it. It takes half of the chunks that are left, at
; least one, first of its own share, then of others.
;
; @state is the whole protocol in one word:
;   bits 63..32 job number | bit 31 open | bits 30..16 how many workers may enter | bits 15..0 workers inside
; The owner writes the job, then publishes it by storing @state with the open bit. A worker enters by adding one to an
; open word (compare-and-swap, so the fields it reads afterwards belong to that very job) and subtracts one when it
; leaves. The owner works too; when no chunk is left it clears the open bit and waits for the workers inside alone:
; a worker that is asleep or has lost its core is never waited for.
;
; Sleeping follows the usual two-flag scheme: the sleeper announces itself (@sleepers, @waiting) and looks again, the
; waker publishes and then looks for announcements, all sequentially consistent; so one of them sees the other.

%job = type { ptr, ptr, ptr, i64, i64, i64, i32 }      ; body, ctx, env, n, chunks, team, status

@state = internal global i64 0, align 128
; Bits 63..32: the job number to which the count belongs; bits 31..0: the chunks of the share that are taken.
@shares = internal global [256 x [16 x i64]] zeroinitializer, align 128
@job = internal global %job zeroinitializer, align 128
@busy = internal global i32 0, align 128
@crowd = internal global i32 0, align 128               ; the number of next jobs that @limit applies to
@limit = internal global i32 1, align 4                 ; the maximum number of threads of these jobs
@inline = internal global i32 0, align 128              ; callers that run inline because another owns the job
@together = internal global i32 0, align 128            ; 1: the worker that entered last runs on the owner's core
@cores = internal global i32 1, align 4                 ; the cores that this process may use
@core = internal global i32 -1, align 128               ; the core of the owner when it published the job
@getcpu = internal global ptr null, align 8             ; the system's sched_getcpu, or null
@getaffinity = internal global ptr null, align 8        ; its sched_getaffinity and sched_setaffinity, or null
@setaffinity = internal global ptr null, align 8
@sleepers = internal global i32 0, align 128            ; workers in cond_wait on @wake
@waiting = internal global i32 0, align 128             ; 1: the owner is in cond_wait on @done
@workers = internal global i32 0, align 4               ; threads created, changed by the owner alone
@stopping = internal global i32 0, align 4
@spins = internal global i64 0, align 8                 ; pauses before going to sleep
@setmask = internal global i32 2, align 4               ; SIG_SETMASK of this system
; Opaque C objects, with room for every system's size of them.
@mutex = internal global [128 x i8] zeroinitializer, align 64
@wake = internal global [128 x i8] zeroinitializer, align 64
@done = internal global [128 x i8] zeroinitializer, align 64
@threads = internal global [256 x ptr] zeroinitializer, align 64

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(ptr, ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sched_yield()
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)

; Pauses `count` times; Python measures it to turn microseconds into @spins.
define void @xrelay_pool_pause(i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  call void asm sideeffect "pause", "~{memory}"()
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; Makes the pool new: at the start, and in the child of a fork, which inherits the words but none of the threads. The
; job number stays, since @shares contains earlier numbers.
define void @xrelay_pool_reset(i32 %setmask, i64 %spins, ptr %getcpu, ptr %get, ptr %set, i32 %cores) {
  store ptr %getcpu, ptr @getcpu
  store ptr %get, ptr @getaffinity
  store ptr %set, ptr @setaffinity
  store i32 %cores, ptr @cores
  store i32 %setmask, ptr @setmask
  store i64 %spins, ptr @spins
  store i32 0, ptr @sleepers
  store i32 0, ptr @waiting
  store i32 0, ptr @workers
  store i32 0, ptr @stopping
  store i32 0, ptr @crowd
  store i32 0, ptr @inline
  store i32 0, ptr @together
  %m = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %w = call i32 @pthread_cond_init(ptr @wake, ptr null)
  %d = call i32 @pthread_cond_init(ptr @done, ptr null)
  %word = load i64, ptr @state
  %number = and i64 %word, -4294967296
  store atomic i64 %number, ptr @state seq_cst, align 8
  store atomic i32 0, ptr @busy seq_cst, align 4
  ret void
}

; Threads created so far.
define i32 @xrelay_pool_workers() {
  %n = load atomic i32, ptr @workers monotonic, align 4
  ret i32 %n
}

; Ends and joins the workers. The pool stays busy for ever after (until a reset), so later calls run inline.
; Returns 1 when a job was still running after many tries; then nothing was stopped.
define i32 @xrelay_pool_stop() {
entry:
  br label %acquire
acquire:
  %try = phi i32 [ 0, %entry ], [ %try.next, %retry ]
  %pair = cmpxchg ptr @busy, i32 0, i32 1 seq_cst monotonic
  %mine = extractvalue { i32, i1 } %pair, 1
  br i1 %mine, label %stop, label %retry
retry:
  %y = call i32 @sched_yield()
  %try.next = add i32 %try, 1
  %again = icmp ult i32 %try.next, 10000
  br i1 %again, label %acquire, label %refuse
refuse:
  ret i32 1
stop:
  store atomic i32 1, ptr @stopping seq_cst, align 4
  call void @lock_pass()
  %b = call i32 @pthread_cond_broadcast(ptr @wake)
  %count = load i32, ptr @workers
  %any = icmp sgt i32 %count, 0
  br i1 %any, label %join, label %stopped
join:
  %i = phi i32 [ 0, %stop ], [ %i.next, %join ]
  %slot = getelementptr inbounds [256 x ptr], ptr @threads, i32 0, i32 %i
  %thread = load ptr, ptr %slot
  %j = call i32 @pthread_join(ptr %thread, ptr null)
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %count
  br i1 %more, label %join, label %stopped
stopped:
  store i32 0, ptr @workers
  ret i32 0
}

; Waits until nobody is between looking at a flag and waiting for its condition.
define internal void @lock_pass() {
  %l = call i32 @pthread_mutex_lock(ptr @mutex)
  %u = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

; i32 xrelay_parallel_for(ptr ctx, ptr body, ptr env, i64 n); ctx begins with { i32 status, i32 num_threads }.
define i32 @xrelay_parallel_for(ptr %ctx, ptr %body, ptr %env, i64 %n) {
entry:
  %threads.p = getelementptr inbounds i8, ptr %ctx, i64 4
  %threads = load i32, ptr %threads.p, align 4
  %one.thread = icmp sle i32 %threads, 1
  %one.index = icmp sle i64 %n, 1
  %serial = or i1 %one.thread, %one.index
  br i1 %serial, label %inline, label %acquire
acquire:
  %pair = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %mine = extractvalue { i32, i1 } %pair, 1
  br i1 %mine, label %staff, label %refused
staff:
  %threads.64 = zext i32 %threads to i64
  %useful = call i64 @llvm.smin.i64(i64 %threads.64, i64 %n)
  %useful.32 = trunc i64 %useful to i32
  %allowed = call i32 @limited(i32 %useful.32)
  %wanted = sub i32 %allowed, 1
  %cap = call i32 @staff(i32 %wanted)
  %alone = icmp eq i32 %cap, 0
  br i1 %alone, label %owner.inline, label %parallel
parallel:
  %status = call i32 @run_job(ptr %ctx, ptr %body, ptr %env, i64 %n, i32 %cap)
  store atomic i32 0, ptr @busy release, align 4
  br label %exit
owner.inline:
  store atomic ptr %ctx, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 1) monotonic, align 8
  %result.owner = call i32 %body(ptr %ctx, ptr %env, i64 0, i64 %n)
  store atomic i32 0, ptr @busy release, align 4
  br label %exit
refused:
  %running = load atomic ptr, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 1) monotonic, align 8
  %nested = icmp eq ptr %running, %ctx
  br i1 %nested, label %inline, label %compete
compete:
  %others = atomicrmw add ptr @inline, i32 1 monotonic
  %inline.now = add i32 %others, 1
  %cores = load i32, ptr @cores
  %rest = sub i32 %cores, %inline.now
  call void @set_crowd(i32 %rest, i32 16)
  %result.inline = call i32 %body(ptr %ctx, ptr %env, i64 0, i64 %n)
  %back = atomicrmw sub ptr @inline, i32 1 monotonic
  br label %exit
inline:
  %empty = icmp sle i64 %n, 0
  br i1 %empty, label %ok, label %call
call:
  %result = call i32 %body(ptr %ctx, ptr %env, i64 0, i64 %n)
  br label %exit
ok:
  ret i32 0
exit:
  %code = phi i32 [ %status, %parallel ], [ %result.owner, %owner.inline ], [ %result.inline, %compete ], [ %result, %call ]
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %ok, label %fail
fail:
  %first = cmpxchg ptr %ctx, i32 0, i32 %code seq_cst monotonic
  ret i32 %code
}

; Limits the next `jobs` to `limit` threads, at least one.
define internal void @set_crowd(i32 %limit, i32 %jobs) {
  %least = call i32 @llvm.smax.i32(i32 %limit, i32 1)
  store atomic i32 %least, ptr @limit monotonic, align 4
  store atomic i32 %jobs, ptr @crowd monotonic, align 4
  ret void
}

; The number of threads that a job may use (the owner only): `threads`, or fewer while @crowd lasts.
define internal i32 @limited(i32 %threads) {
entry:
  %crowd = load atomic i32, ptr @crowd monotonic, align 4
  %crowded = icmp sgt i32 %crowd, 0
  br i1 %crowded, label %fewer, label %all
fewer:
  %crowd.next = sub i32 %crowd, 1
  store atomic i32 %crowd.next, ptr @crowd monotonic, align 4
  %limit = load atomic i32, ptr @limit monotonic, align 4
  %least = call i32 @llvm.smin.i32(i32 %threads, i32 %limit)
  ret i32 %least
all:
  ret i32 %threads
}

; The number of the core that runs this thread; -1 if the system does not report it.
define internal i32 @current_core() {
entry:
  %getcpu = load ptr, ptr @getcpu
  %none = icmp eq ptr %getcpu, null
  br i1 %none, label %unknown, label %call
call:
  %core = call i32 %getcpu()
  ret i32 %core
unknown:
  ret i32 -1
}

; The number of pauses before a thread sleeps: none if owner and worker run on one core.
define internal i64 @patience() {
  %spins = load i64, ptr @spins
  %shared = load atomic i32, ptr @together monotonic, align 4
  %apart = icmp eq i32 %shared, 0
  %pauses = select i1 %apart, i64 %spins, i64 0
  ret i64 %pauses
}

; Records whether this worker runs on the owner's core (see @together).
define internal void @compare_cores() {
entry:
  %core = call i32 @current_core()
  %owner = load atomic i32, ptr @core monotonic, align 4
  %same = icmp eq i32 %core, %owner
  %known = icmp sge i32 %core, 0
  %shared = and i1 %same, %known
  %word = zext i1 %shared to i32
  %before = load atomic i32, ptr @together monotonic, align 4
  %changed = icmp ne i32 %word, %before
  br i1 %changed, label %change, label %look
change:
  store atomic i32 %word, ptr @together monotonic, align 4
  br label %look
look:
  br i1 %shared, label %crowd, label %exit
crowd:
  %team = load i64, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 5)
  %half = lshr i64 %team, 1
  %limit = trunc i64 %half to i32
  ; Another core may have become idle by then.
  call void @set_crowd(i32 %limit, i32 4)
  call void @leave_core(i32 %core)
  br label %exit
exit:
  ret void
}

; Moves this thread from a core to another one that it may use, if there is any. It may use the same cores afterwards.
define internal void @leave_core(i32 %core) noinline {
entry:
  %all = alloca i1024, align 8
  %others = alloca i1024, align 8
  %get = load ptr, ptr @getaffinity
  %set = load ptr, ptr @setaffinity
  %no.get = icmp eq ptr %get, null
  %no.set = icmp eq ptr %set, null
  %none = or i1 %no.get, %no.set
  br i1 %none, label %exit, label %ask
ask:
  store i1024 0, ptr %all
  %failed = call i32 %get(i32 0, i64 128, ptr %all)
  %unknown = icmp slt i32 %failed, 0
  br i1 %unknown, label %exit, label %look
look:
  %mask = load i1024, ptr %all
  %place = zext i32 %core to i1024
  %own = shl i1024 1, %place
  %clear = xor i1024 %own, -1
  %rest = and i1024 %mask, %clear
  store i1024 %rest, ptr %others
  %alone = icmp eq i1024 %rest, 0
  br i1 %alone, label %exit, label %move
move:
  %there = call i32 %set(i32 0, i64 128, ptr %others)
  %again = call i32 %set(i32 0, i64 128, ptr %all)
  br label %exit
exit:
  ret void
}

; Creates workers up to `wanted` (the owner only); returns how many of those wanted there are.
define internal i32 @staff(i32 %wanted) {
entry:
  %goal = call i32 @llvm.smin.i32(i32 %wanted, i32 255)
  %have = load i32, ptr @workers
  %short = icmp slt i32 %have, %goal
  br i1 %short, label %hire, label %exit
hire:
  call void @hire(i32 %goal)
  br label %exit
exit:
  %now = load i32, ptr @workers
  %cap = call i32 @llvm.smin.i32(i32 %now, i32 %goal)
  ret i32 %cap
}

; Creates workers until there are `goal` or the system refuses. Workers take no signals, as those are the program's;
; their stacks are 8 MiB on every system, since kernels keep their local buffers there.
define internal void @hire(i32 %goal) noinline {
entry:
  %attr = alloca [128 x i8], align 64
  %all = alloca [128 x i8], align 64
  %old = alloca [128 x i8], align 64
  %how = load i32, ptr @setmask
  %a = call i32 @pthread_attr_init(ptr %attr)
  %s = call i32 @pthread_attr_setstacksize(ptr %attr, i64 8388608)
  %f = call i32 @sigfillset(ptr %all)
  %m = call i32 @pthread_sigmask(i32 %how, ptr %all, ptr %old)
  %start = load i32, ptr @workers
  br label %next
next:
  %count = phi i32 [ %start, %entry ], [ %count.next, %created ]
  store atomic i32 %count, ptr @workers monotonic, align 4
  %more = icmp slt i32 %count, %goal
  br i1 %more, label %create, label %exit
create:
  %slot = getelementptr inbounds [256 x ptr], ptr @threads, i32 0, i32 %count
  %share = add i32 %count, 1
  %share.64 = zext i32 %share to i64
  %argument = inttoptr i64 %share.64 to ptr
  %error = call i32 @pthread_create(ptr %slot, ptr %attr, ptr @worker, ptr %argument)
  %refused = icmp ne i32 %error, 0
  br i1 %refused, label %exit, label %created
created:
  %count.next = add i32 %count, 1
  br label %next
exit:
  %r = call i32 @pthread_sigmask(i32 %how, ptr %old, ptr null)
  %d = call i32 @pthread_attr_destroy(ptr %attr)
  ret void
}

; Publishes a job for up to `cap` workers, takes part in it, and returns its status when nobody is inside any more.
define internal i32 @run_job(ptr %ctx, ptr %body, ptr %env, i64 %n, i32 %cap) {
entry:
  %cap.64 = zext i32 %cap to i64
  %team = add i64 %cap.64, 1
  %most = shl i64 %team, 5
  %chunks = call i64 @llvm.smin.i64(i64 %most, i64 %n)
  store ptr %body, ptr @job
  store atomic ptr %ctx, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 1) monotonic, align 8
  store ptr %env, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 2)
  store i64 %n, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 3)
  store i64 %chunks, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 4)
  store i64 %team, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 5)
  store atomic i32 0, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 6) monotonic, align 4
  %core = call i32 @current_core()
  store atomic i32 %core, ptr @core monotonic, align 4
  %before = load atomic i64, ptr @state monotonic, align 8
  %number = lshr i64 %before, 32
  %following = add i64 %number, 1
  %number.next = and i64 %following, 4294967295
  %high = shl i64 %number.next, 32
  %room = shl i64 %cap.64, 16
  %low = or i64 %room, 2147483648
  %open = or i64 %high, %low
  store atomic i64 %open, ptr @state seq_cst, align 8
  %asleep = load atomic i32, ptr @sleepers seq_cst, align 4
  %some = icmp sgt i32 %asleep, 0
  br i1 %some, label %rouse, label %work
rouse:
  call void @rouse(i32 %asleep, i32 %cap)
  br label %work
work:
  call void @work(i64 %number.next, i64 0)
  %closed = atomicrmw and ptr @state, i64 -2147483649 seq_cst
  %inside = and i64 %closed, 65535
  %left = icmp eq i64 %inside, 0
  br i1 %left, label %exit, label %wait
wait:
  call void @wait_done()
  br label %exit
exit:
  %status = load atomic i32, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 6) acquire, align 4
  ret i32 %status
}

; Wakes `cap` of the sleepers: all at once where all are wanted.
define internal void @rouse(i32 %asleep, i32 %cap) noinline {
entry:
  call void @lock_pass()
  %everybody = icmp sle i32 %asleep, %cap
  br i1 %everybody, label %all, label %some
all:
  %b = call i32 @pthread_cond_broadcast(ptr @wake)
  ret void
some:
  %i = phi i32 [ 0, %entry ], [ %i.next, %some ]
  %s = call i32 @pthread_cond_signal(ptr @wake)
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %cap
  br i1 %more, label %some, label %exit
exit:
  ret void
}

; Runs chunks of job `number` until none is left, beginning in share `own`. A failing body ends the job: the chunks that
; are left are dropped.
define internal void @work(i64 %number, i64 %own) {
entry:
  %body = load ptr, ptr @job
  %ctx = load ptr, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 1)
  %env = load ptr, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 2)
  %n = load i64, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 3)
  %chunks = load i64, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 4)
  %team = load i64, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 5)
  %stamp = shl i64 %number, 32
  br label %visit
visit:
  %i = phi i64 [ 0, %entry ], [ %i.next, %leave ]
  %around = add i64 %own, %i
  %share = urem i64 %around, %team
  %word.p = getelementptr inbounds [256 x [16 x i64]], ptr @shares, i64 0, i64 %share, i64 0
  %first = call i64 @divide(i64 %share, i64 %chunks, i64 %team)
  %share.next = add i64 %share, 1
  %last = call i64 @divide(i64 %share.next, i64 %chunks, i64 %team)
  %size = sub i64 %last, %first
  br label %take
take:
  %word = load atomic i64, ptr %word.p monotonic, align 8
  %word.number = lshr i64 %word, 32
  %begun = icmp eq i64 %word.number, %number
  %count = and i64 %word, 4294967295
  %taken = select i1 %begun, i64 %count, i64 0
  %left = sub i64 %size, %taken
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %try, label %leave
try:
  %half = lshr i64 %left, 1
  %more = call i64 @llvm.umax.i64(i64 %half, i64 1)
  %taken.next = add i64 %taken, %more
  %word.next = or i64 %stamp, %taken.next
  %pair = cmpxchg ptr %word.p, i64 %word, i64 %word.next monotonic monotonic
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %run, label %take
run:
  %status = load atomic i32, ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 6) monotonic, align 4
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %exit, label %call
call:
  %from = add i64 %first, %taken
  %to = add i64 %from, %more
  %begin = call i64 @divide(i64 %from, i64 %n, i64 %chunks)
  %end = call i64 @divide(i64 %to, i64 %n, i64 %chunks)
  %code = call i32 %body(ptr %ctx, ptr %env, i64 %begin, i64 %end)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %take, label %fail
fail:
  %first.code = cmpxchg ptr getelementptr inbounds (%job, ptr @job, i32 0, i32 6), i32 0, i32 %code seq_cst monotonic
  br label %exit
leave:
  %i.next = add i64 %i, 1
  %others = icmp ult i64 %i.next, %team
  br i1 %others, label %visit, label %exit
exit:
  ret void
}

; The first element of part `i` of `n` elements in `parts` parts. Parts are at most 8192, so nothing overflows.
define internal i64 @divide(i64 %i, i64 %n, i64 %parts) {
  %product = mul i64 %i, %n
  %first = udiv i64 %product, %parts
  ret i64 %first
}

; The owner's wait for the workers inside: spin, then sleep on @done.
define internal void @wait_done() {
entry:
  %spins = call i64 @patience()
  br label %spin
spin:
  %i = phi i64 [ 0, %entry ], [ %i.next, %pause ]
  %word = load atomic i64, ptr @state acquire, align 8
  %inside = and i64 %word, 65535
  %left = icmp eq i64 %inside, 0
  br i1 %left, label %exit, label %pause
pause:
  call void asm sideeffect "pause", "~{memory}"()
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %spins
  br i1 %more, label %spin, label %sleep
sleep:
  %l = call i32 @pthread_mutex_lock(ptr @mutex)
  store atomic i32 1, ptr @waiting seq_cst, align 4
  br label %look
look:
  %word.2 = load atomic i64, ptr @state seq_cst, align 8
  %inside.2 = and i64 %word.2, 65535
  %left.2 = icmp eq i64 %inside.2, 0
  br i1 %left.2, label %awake, label %doze
doze:
  %c = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  br label %look
awake:
  store atomic i32 0, ptr @waiting seq_cst, align 4
  %u = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %exit
exit:
  ret void
}

; A worker: look for an open job it has not yet seen, spinning and then asleep; enter, work, leave.
define internal ptr @worker(ptr %argument) {
entry:
  %own = ptrtoint ptr %argument to i64
  br label %idle
idle:
  %seen = phi i64 [ -1, %entry ], [ %seen.try, %try ], [ %number, %leave ], [ %number, %call.owner ], [ %number, %full ]
  %spins = call i64 @patience()
  br label %spin
spin:
  %i = phi i64 [ 0, %idle ], [ %i.next, %pause ]
  %word.spin = load atomic i64, ptr @state monotonic, align 8
  %found.spin = call i1 @is_new(i64 %word.spin, i64 %seen)
  br i1 %found.spin, label %found, label %pause
pause:
  call void asm sideeffect "pause", "~{memory}"()
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %spins
  br i1 %more, label %spin, label %sleep
sleep:
  %l = call i32 @pthread_mutex_lock(ptr @mutex)
  %up = atomicrmw add ptr @sleepers, i32 1 seq_cst
  br label %look
look:
  %word.look = load atomic i64, ptr @state seq_cst, align 8
  %found.look = call i1 @is_new(i64 %word.look, i64 %seen)
  %end = load atomic i32, ptr @stopping seq_cst, align 4
  %ending = icmp ne i32 %end, 0
  %rise = or i1 %found.look, %ending
  br i1 %rise, label %awake, label %doze
doze:
  %c = call i32 @pthread_cond_wait(ptr @wake, ptr @mutex)
  br label %look
awake:
  %down = atomicrmw sub ptr @sleepers, i32 1 seq_cst
  %u = call i32 @pthread_mutex_unlock(ptr @mutex)
  br i1 %ending, label %exit, label %found
found:
  %word = phi i64 [ %word.spin, %spin ], [ %word.look, %awake ]
  %number = lshr i64 %word, 32
  %inside = and i64 %word, 65535
  %room.high = lshr i64 %word, 16
  %room = and i64 %room.high, 32767
  %fits = icmp ult i64 %inside, %room
  br i1 %fits, label %try, label %full
full:
  br label %idle
try:
  %seen.try = phi i64 [ %seen, %found ]
  %entered = add i64 %word, 1
  %pair = cmpxchg ptr @state, i64 %word, i64 %entered seq_cst monotonic
  %in = extractvalue { i64, i1 } %pair, 1
  br i1 %in, label %enter, label %idle
enter:
  call void @compare_cores()
  br label %leave
leave:
  call void @work(i64 %number, i64 %own)
  %left = atomicrmw sub ptr @state, i64 1 seq_cst
  %left.inside = and i64 %left, 65535
  %last = icmp eq i64 %left.inside, 1
  %owner = load atomic i32, ptr @waiting seq_cst, align 4
  %waits = icmp ne i32 %owner, 0
  %signal = and i1 %last, %waits
  br i1 %signal, label %call.owner, label %idle
call.owner:
  call void @lock_pass()
  %s = call i32 @pthread_cond_signal(ptr @done)
  br label %idle
exit:
  ret ptr null
}

; Is `word` an open job other than number `seen`?
define internal i1 @is_new(i64 %word, i64 %seen) {
  %bit = and i64 %word, 2147483648
  %open = icmp ne i64 %bit, 0
  %number = lshr i64 %word, 32
  %other = icmp ne i64 %number, %seen
  %new = and i1 %open, %other
  ret i1 %new
}
