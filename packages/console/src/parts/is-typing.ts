/** True if a key belongs to a field, a dialog, a shortcut of the browser or another shortcut, and must not start one of its own. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return true
  const target = event.target instanceof Element ? event.target : null
  return target?.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') != null
}
