/**
 * Simulates the three providers and a customer's receiver. Each provider has an account with its operations
 * (`createCardProcessor`, `createReseller`, `createBiller`), its API on loopback (`start…Api`), and endpoints that
 * post its events (`createWebhookEndpoint`), with disturbances that a test chooses. Everything uses the given clock and seed.
 * Another provider can be built from `createObjectHistory` and `startProviderApi`.
 *
 * The objects are written from the providers' documentation, and the providers' official types check them. The tests of normalisation
 * take their samples from here; test/histories has objects that were written apart from these, which find an error in both.
 */
export type { EventSource, Posting } from './account/event-feed.ts'
export { createObjectHistory, type ObjectHistory } from './account/object-history.ts'
export { ApiRefusal } from './api/api-refusal.ts'
export { type ApiCall, type Dialect, type ProviderApi, startProviderApi } from './api/provider-api.ts'
export type { RateLimit } from './api/rate-limit.ts'
export type { Trouble } from './api/trouble.ts'
export { type Biller, createBiller } from './biller/account.ts'
export { startBillerApi } from './biller/api/server.ts'
export type { Actor } from './biller/events.ts'
export { type Chance, createChance } from './chance.ts'
export type { Disturbance } from './posting/disturbance.ts'
export { bytesOf, type Credential, credentialHeaders, postNotification } from './posting/post-notification.ts'
export type { Payload, ProviderKind } from './posting/provider-event.ts'
export { createWebhookEndpoint, type PostAttempt, type WebhookEndpoint } from './posting/webhook-endpoint.ts'
export { type CardProcessor, type CardProcessorOptions, createCardProcessor } from './processor/account.ts'
export { startProcessorApi } from './processor/api/server.ts'
export type { ProcessorEvent } from './processor/events.ts'
export { API_VERSION } from './processor/object-context.ts'
export type { Payment } from './processor/objects/payment.ts'
export type { ProcessorSubscription } from './processor/objects/subscription.ts'
export type { RefundRequest } from './processor/refunds.ts'
export { thinEventOf } from './processor/thin-events.ts'
export { checkStandardWebhook } from './receiver/check-signature.ts'
export { type ReceivedDelivery, type Receiver, startReceiver } from './receiver/receiver.ts'
export { createReseller, type Reseller } from './reseller/account.ts'
export { startResellerApi } from './reseller/api/server.ts'
