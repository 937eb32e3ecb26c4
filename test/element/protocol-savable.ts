import { type Opened, openEditor } from './protocol-opened.ts';
import { type ReceivedMessage, sendFromEditor } from './protocol-setup.ts';

const CAN = { capabilities: ['open', 'save', 'configure'] };

/** A running editor with the capability to save, which saves when the test has it answer. */
export const openSavable = (changes = {}): Promise<Opened> => openEditor(changes, CAN);

/** Waits until the editor received `times` save requests, and resolves with the last one. */
export const untilSaveRequest = ({ received }: Opened, times = 1): Promise<ReceivedMessage> =>
  received.until('save-request', times);

/** Makes the editor answer a request, after it reported whether it has unsaved work. */
export async function replyToSave(
  all: Opened,
  to: ReceivedMessage,
  fields: object = {},
  dirty = false,
): Promise<void> {
  const { element, received } = all;
  sendFromEditor(element, received, { type: 'dirty', dirty });
  if (!dirty) sendFromEditor(element, received, { type: 'save' });
  const { request, session } = to as ReceivedMessage & { request: string };
  sendFromEditor(element, received, { type: 'save-result', session, request, ...fields });
}
