export { cacheFolder } from './downloads/cache-layout.ts'
export { stopPartsOwnedBy } from './embedded-stack.ts'
export { withLock } from './exclusive-lock.ts'
export { choosePorts, isPortFree } from './ports.ts'
export { makePrivateFolder } from './private-folder.ts'
export { endProcess } from './process-end.ts'
export { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
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
