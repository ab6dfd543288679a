/** The client of the management API, for Node and browsers. It imports no other package and no module of Node. */
export { ApiProblem, NoAnswer } from './api-problem.ts'
export type { Page, PagedList, Query, RequestOptions } from './call.ts'
export { type Client, type ClientOptions, createClient, type RawRequest } from './create-client.ts'
export type * from './generated/api.ts'
export { type LiveEvent, type LiveOptions, liveEvents } from './live/live-events.ts'
export type { Report } from './reporter/report.ts'
export type { QueueStatus, ReporterProblem, Spool } from './reporter/report-queue.ts'
export { type Reporter, type ReporterOptions, type WatchedCall, watch } from './reporter/watch.ts'
