export { stopPartsOwnedBy, stopRecordedParts } from './embedded-stack.ts'
export { type LockOptions, withLock, withLock } from './exclusive-lock.ts'
export { pollUntil, pollUntil } from './poll.ts'
export { choosePorts, choosePorts, isPortFree, type PortWish } from './ports.ts'
export { endProcess, endProcess } from './process-end.ts'
export {
  identify,
  identify,
  isAlive,
  isAlive,
  type ProcessIdentity,
  type ProcessIdentity,
  signalProcess,
} from './process-identity.ts'
export { type ProgressSink, type ProgressStep, type ProgressStream, progressOn, silentProgress } from './progress.ts'
export {
  PART_NAMES,
  type PartHandle,
  type PartName,
  type PortName,
  type RunningStack,
  StackError,
  type StackKind,
  type StackOptions,
  type StackUrls,
} from './stack-contract.ts'
export { startStack } from './start-stack.ts'
