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
