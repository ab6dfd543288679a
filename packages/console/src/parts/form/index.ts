/** Forms and dialogs, and what becomes of a lost race. */
export { ConfirmButton } from './confirm-button.tsx'
export { DialogButton, Form } from './form.tsx'
export { LostRace } from './lost-race.tsx'
export { TimeZoneSelect } from './time-zone.tsx'
export { handleSubmit, useFields } from './use-fields.ts'
export { isLostRace, versionToSave } from './version-to-save.ts'
