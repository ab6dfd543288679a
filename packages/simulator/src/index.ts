/**
 * Simulates the three providers and a customer's receiver. Each provider has an account with its operations
 * (`createCardProcessor`, `createReseller`, `createSubscriptionBiller`), its API on loopback (`start…Api`), and endpoints that
 * post its events (`createWebhookEndpoint`), with disturbances that a test chooses. Everything uses the given clock and seed.
 * Another provider can be built from `createObjectHistory` and `startProviderApi`.
 *
 * The objects are written from the providers' documentation, and the providers' official types check them. The tests of normalisation
 * take their samples from here; test/histories has objects that were written apart from these, which find an error in both.
 */
export type { EventSource, Posting } from './account/event-feed.ts'
export { createObjectHistory, type ObjectHistory, type View } from './account/object-history.ts'
export { ApiRefusal } from './api/api-refusal.ts'
export {
  type ApiCall,
  type Dialect,
  type ProviderApi,
  type ProviderApiOptions,
  startProviderApi,
} from './api/provider-api.ts'
export type { RateLimit } from './api/rate-limit.ts'
export type { Trouble } from './api/trouble.ts'
export { type Chance, createChance } from './chance.ts'
export { type Disturbance, type PostPlan, planPosts } from './posting/disturbance.ts'
export {
  bytesOf,
  type Credential,
  credentialHeaders,
  type PostAnswer,
  type PostRequest,
  postNotification,
} from './posting/post-notification.ts'
export type { ProviderEvents, ProviderKind } from './posting/provider-event.ts'
export {
  createWebhookEndpoint,
  type PostAttempt,
  type WebhookEndpoint,
  type WebhookEndpointOptions,
} from './posting/webhook-endpoint.ts'
export {
  type CardProcessor,
  type CardProcessorOptions,
  createCardProcessor,
  type ProcessorRecords,
  type SubscribeRequest,
} from './processor/account.ts'
export type { Caller } from './processor/account-state.ts'
export { type ProcessorApiOptions, startProcessorApi } from './processor/api/server.ts'
export { signProcessorEvent } from './processor/credential.ts'
export type { ProcessorEvent, ProcessorEventType } from './processor/events.ts'
export { API_VERSION } from './processor/object-context.ts'
export type { Payment, PaymentRequest } from './processor/objects/payment.ts'
export type { ProcessorSubscription } from './processor/objects/subscription.ts'
export type { RefundRequest, Settlement } from './processor/refunds.ts'
export { ProcessorRefusal } from './processor/refusal.ts'
export type { CancelReason } from './processor/subscriptions.ts'
export { checkServiceSignature, checkStandardWebhook, type SignatureCheck } from './receiver/check-signature.ts'
export {
  type ReceivedDelivery,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
  startReceiver,
} from './receiver/receiver.ts'
export {
  createReseller,
  type Reseller,
  type ResellerOptions,
  type ResellerRecords,
  type SaleRequest,
} from './reseller/account.ts'
export type { AdjustmentRequest } from './reseller/adjustments.ts'
export { type ResellerApiOptions, startResellerApi } from './reseller/api/server.ts'
export { signResellerEvent } from './reseller/credential.ts'
export type { ResellerEvent } from './reseller/events.ts'
export type { ResellerAdjustment } from './reseller/objects/adjustment.ts'
export type { ResellerSubscription } from './reseller/objects/subscription.ts'
export type { ResellerTransaction } from './reseller/objects/transaction.ts'
export { ResellerRefusal } from './reseller/refusal.ts'
export {
  type Bill,
  type BillerRecords,
  type BillRequest,
  createSubscriptionBiller,
  type SubscriptionBiller,
  type SubscriptionBillerOptions,
} from './subscription/account.ts'
export { type BillerApiOptions, startBillerApi } from './subscription/api/server.ts'
export { subscriptionAuthorization } from './subscription/credential.ts'
export type { Actor, BillerEvent, BillerEventType } from './subscription/events.ts'
export type { BillerCreditNote, CreditNoteReason } from './subscription/objects/credit-note.ts'
export type { BillerInvoice } from './subscription/objects/invoice.ts'
export type { BillerSubscription } from './subscription/objects/subscription.ts'
export type { BillerTransaction } from './subscription/objects/transaction.ts'
export type { RefundOptions } from './subscription/refunds.ts'
export { BillerRefusal } from './subscription/refusal.ts'
