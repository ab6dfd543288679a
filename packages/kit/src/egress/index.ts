export { refuseCustomHeaders } from './custom-headers.ts'
export { createEgress, type Egress, type EgressOptions, type EgressRequest, type EgressResponse } from './egress.ts'
export { type EgressBlock, type EgressFailure, type EgressReason, egressReason, isTlsErrorCode } from './failure.ts'
export { createHostList, type HostList } from './host-list.ts'
