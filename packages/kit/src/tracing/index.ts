export { startTracing, type TracingConfig, tracingSettings } from './start-tracing.ts'
export { traceIdOf } from './traceparent.ts'
export * from './tracing.ts'
