/** Restarts services and parts of the stack that end unexpectedly, and reports each end. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify, isAlive, type PartHandle, type PartName, type RunningStack } from '@backstop/stack'
import { decideRestart, describeExit, type Exit } from './restart-policy.ts'
import { notReadyFault, type ServiceProcess } from './service-process.ts'
import { PortInUseFault, StartFault } from './start-fault.ts'

export interface Supervision {
  say(text: string): void
  isStopping(): boolean
  /** Milliseconds between two checks of a part of the stack; 2,000 by default. */
  checkEveryMs?: number
  /** Waits this many milliseconds before a restart. */
  pause?(ms: number): Promise<unknown>
}

/**
 * Starts a service and keeps it running until it is stopped. A process that ends unexpectedly, also during the start, is reported
 * and restarted a limited number of times; while another process uses its port, as often as needed.
 * @returns when the service is ready for the first time
 * @throws PortInUseFault if another process uses a port of the service at the first start
 * @throws StartFault if the service is not ready in time, or ends before it is ready and a restart does not help
 */
export function superviseService(service: ServiceProcess, supervision: Supervision): Promise<void> {
  const firstReady = Promise.withResolvers<void>()
  keepRunning(service, supervision, firstReady).catch((error: unknown) => {
    supervision.say(
      `✗ ${service.name} is no longer supervised: ${error instanceof Error ? error.message : String(error)}`,
    )
    firstReady.reject(error)
  })
  return firstReady.promise
}

async function keepRunning(
  service: ServiceProcess,
  { say, isStopping, pause = sleep }: Supervision,
  firstReady: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>,
): Promise<void> {
  const { name } = service
  const exits: Exit[] = []
  let wasReady = false
  // Checked before the first start too: a service that starts during a stop would outlive the launcher.
  while (!isStopping() && !service.isStopRequested) {
    service.start()
    const readiness = await service.awaitReady()
    if (readiness.kind === 'ready') {
      if (wasReady) say(`✓ ${name} runs again`)
      wasReady = true
      firstReady.resolve()
    } else if (readiness.kind === 'late') {
      const fault = notReadyFault(service, readiness)
      if (wasReady) say(`✗ ${fault.message}`)
      else firstReady.reject(fault)
    }
    const end = await service.exited
    if (!end.isUnexpected || isStopping()) break
    if (end.portInUse !== undefined && !wasReady) return firstReady.reject(new PortInUseFault(name, end.portInUse))
    const isWaiting = end.portInUse !== undefined && end.portInUse === exits.at(-1)?.portInUse
    exits.push({ atMs: Date.now(), ...end })
    const decision = decideRestart(exits, Date.now())
    if (end.portInUse === undefined) say(`✗ ${name} ${describeExit(end)}\n${service.lastLogLines(8).join('\n')}`)
    else if (!isWaiting) say(`✗ ${name} is down: ${decision.reason}. It starts when the port is free`)
    if (decision.kind === 'stay_down') {
      const { reason, remedy } = decision
      if (wasReady) say(`✗ ${name} stays down: ${reason}\n  → ${remedy}`)
      else firstReady.reject(new StartFault(`${name} could not start: ${reason}`, remedy))
      return
    }
    await pause(decision.delayMs)
  }
  firstReady.reject(new StartFault(`${name} was stopped`, ''))
}

const PART_TITLES: Record<PartName, string> = {
  kafka: 'Kafka',
  mongo: 'MongoDB',
  registry: 'The schema registry',
  mail: 'The mail catcher',
}
const CHECK_EVERY_MS = 2_000

/**
 * Keeps the running embedded parts of the stack running. They are not children of this process, so it polls. Parts that the user
 * runs, and containers, have no pid and are not restarted.
 * @param logDir folder of the parts' logs
 * @returns a function that waits until no restart of a part is in progress. Call it before stopping the stack, because a part
 * that starts afterwards would not be stopped.
 */
export function superviseStack(stack: RunningStack, logDir: string, supervision: Supervision): () => Promise<void> {
  let restarts = Promise.resolve()
  for (const [name, part] of Object.entries(stack.parts) as [PartName, PartHandle][]) {
    if (part.pid === undefined) continue
    const restart = createRestart(name, part, logDir, supervision)
    let identity = identify(part.pid)
    const checkLater = () => setTimeout(() => void check(), supervision.checkEveryMs ?? CHECK_EVERY_MS).unref()
    const check = async () => {
      if (supervision.isStopping()) return
      if (identity === undefined || !isAlive(identity)) {
        const restarted = restart()
        restarts = Promise.all([restarts, restarted]).then(() => {})
        if (!(await restarted)) return
        identity = part.pid === undefined ? undefined : identify(part.pid)
      }
      checkLater()
    }
    checkLater()
  }
  return () => restarts
}

/** Creates a function that restarts a part. It resolves with false if a restart does not help. */
function createRestart(name: PartName, part: PartHandle, logDir: string, { say, isStopping }: Supervision) {
  const title = PART_TITLES[name]
  const exits: Exit[] = []
  return async (): Promise<boolean> => {
    exits.push({ atMs: Date.now(), code: null, signal: null })
    const decision = decideRestart(exits, Date.now())
    // A restart renames the log of the previous process.
    const log = join(logDir, decision.kind === 'restart' ? `${name}.previous.log` : `${name}.log`)
    say([`✗ ${title} has ended`, ...part.lastLogLines(), `    Its log: ${log}`].join('\n'))
    if (decision.kind === 'stay_down') {
      say(`✗ ${title} stays down: ${decision.reason}\n  → ${decision.remedy}`)
      return false
    }
    try {
      await part.restart()
      say(`✓ ${title} runs again`)
    } catch (error) {
      if (!isStopping()) say(`✗ ${error instanceof Error ? error.message : String(error)}`)
    }
    return true
  }
}
