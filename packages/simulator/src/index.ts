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
export {
  createWebhookEndpoint,
  type PostAttempt,
  SUBSCRIBED_EVENTS,
  type WebhookEndpoint,
  type WebhookEndpointOptions,
} from './posting/webhook-endpoint.ts'
export {
  type ProcessorApi,
  type ProcessorApiOptions,
  startProcessorApi,
  type Trouble,
} from './processor/api/server.ts'
export {
  type CardProcessor,
  type CardProcessorOptions,
  createCardProcessor,
  type RefundRequest,
  type Settlement,
} from './processor/card-processor.ts'
export { API_VERSION, type Payment, type PaymentRequest } from './processor/objects.ts'
export { ProcessorRefusal } from './processor/processor-refusal.ts'
export { signProcessorEvent } from './processor/sign-event.ts'
export { checkServiceSignature, checkStandardWebhook, type SignatureCheck } from './receiver/check-signature.ts'
export {
  type ReceivedDelivery,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
  startReceiver,
} from './receiver/receiver.ts'
export { signResellerEvent } from './reseller/sign-event.ts'
export { subscriptionAuthorization } from './subscription/basic-auth.ts'
